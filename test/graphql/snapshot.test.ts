import { until } from '../support/until.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from './support.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  tenant = await createTenant(graph);
  for (let index = 0; index < 5; index++) await createUser(tenant);
});
afterAll(() => graph.stop());

test('the statements of one operation see the same state while others write', async () => {
  const user = await createUser(tenant, { fullName: 'Name 0' });
  const unit = await createUnit(tenant, { name: 'Name 0' });
  let writing = true;
  const writer = async () => {
    const change = `with renamed as (update app_public.users set full_name = $1 where id = $2)
      update app_public.units set name = $1 where id = $3`;
    for (let count = 1; writing; count++) {
      await graph.database.owner.query(change, [`Name ${count}`, user.uuid, unit.uuid]);
    }
  };
  const writers = writer();

  const seen = new Set<string>();
  const reader = async () => {
    for (let round = 0; round < 50; round++) {
      const { a, b, c } = await read<Names>(
        graph,
        tenant.app,
        `{ a: node(id: "${user.id}") { ... on User { name: fullName } }
           b: node(id: "${unit.id}") { ... on Unit { name } }
           c: node(id: "${user.id}") { ... on User { name: fullName } } }`,
      );
      expect([b.name, c.name]).toEqual([a.name, a.name]);
      seen.add(a.name);
    }
  };
  try {
    await Promise.all(Array.from({ length: 8 }, reader));
  } finally {
    writing = false;
    await writers;
  }
  // It did change meanwhile.
  expect(seen.size).toBeGreaterThan(10);
});

type Names = Record<'a' | 'b' | 'c', { name: string }>;

test('what fails in one of several statements leaves the others their data', async () => {
  const user = await createUser(tenant, { fullName: 'Ada' });
  const unit = await createUnit(tenant, { name: 'Hall' });
  const query = `{ unit: node(id: "${unit.id}") { ... on Unit { name } } user: node(id: "${user.id}") { ... on User { fullName } } }`;
  expect(await read(graph, tenant.app, query)).toEqual({ unit: { name: 'Hall' }, user: { fullName: 'Ada' } });

  await graph.database.owner.query('revoke select on app_public.units from graph_app');
  try {
    const { data, errors } = (await ask(graph, tenant.app, query)).body;
    expect(data).toEqual({ unit: null, user: { fullName: 'Ada' } });
    expect(errors).toEqual([expect.objectContaining({ path: ['unit'] })]);
  } finally {
    await graph.database.owner.query('grant select on app_public.units to graph_app');
  }
});

test('no transaction stays open behind an operation', async () => {
  const open = `select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
  await until(async () => (await graph.database.owner.query(open)).rowCount === 0);
});

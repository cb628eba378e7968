import { until } from '../support/until.ts';
import { ask, createTenant, type OwnGraphTest, read, startGraphTest, type Tenant } from './support.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({ SLOW_MS: '0' });
  tenant = await createTenant(graph);
  const { owner } = graph.database;
  const values = [tenant.organizationId];
  await owner.query(
    `insert into app_public.users (organization_id, full_name, email, external_identifier)
     select $1, 'User ' || i % 100, 'user-' || i || '@acme.test', nullif('u-' || i, 'u-7') from generate_series(1, 5000) i`,
    values,
  );
  await owner.query(
    `insert into app_public.units (organization_id, name, external_identifier)
     select $1, 'Unit ' || i % 100, nullif('u-' || i, 'u-7') from generate_series(1, 5000) i`,
    values,
  );
  await owner.query('vacuum analyze app_public.users, app_public.units');
});
afterAll(() => graph.stop());

/** How PostgreSQL reads what this asks for. */
async function planOf(query: string): Promise<string> {
  const answer = await ask(graph, tenant.app, query);
  const requestId = answer.headers.get('X-Request-Id');
  const find = () =>
    graph.logs.map((line) => JSON.parse(line)).find((line) => line.requestId === requestId && 'document' in line);
  await until(() => find() !== undefined);
  return find().plan.join('\n');
}

test.each([
  ['users', 'UserOrderBy'],
  ['rootUnits', 'UnitOrderBy'],
])(
  'each order of %s is read from an index, so that a page reads no more rows than it has',
  async (connection, orders) => {
    const { __type } = await read<{ __type: { enumValues: { name: string }[] } }>(
      graph,
      tenant.app,
      `{ __type(name: "${orders}") { enumValues { name } } }`,
    );
    const names = __type.enumValues.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['PRIMARY_KEY_ASC', 'EXTERNAL_IDENTIFIER_DESC']));

    for (const order of names) {
      const plan = await planOf(`{ app { ${connection}(first: 3, orderBy: [${order}]) { nodes { id } } } }`);
      expect(plan).toMatch(/Index (Only )?Scan .*on (users|units) /);
      expect(plan).not.toMatch(/Sort|Seq Scan/);
    }
  },
);

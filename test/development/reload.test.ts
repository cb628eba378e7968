import { printSchema } from 'postgraphile/graphql';
import { ask, createUnit, expectRefused, type OwnGraphTest, read, type Tenant } from '../graphql/support.ts';
import { until } from '../support/until.ts';
import { addField, reloadUnderLoad, startReloadTest } from './reloadUnderLoad.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  ({ graph, tenant } = await startReloadTest());
});
afterAll(() => graph.stop());

test('a reload shows a new field in the graph, the schema file and the documentation, and says what has changed', async () => {
  await addField(graph, 'motto');
  expectRefused(await ask(graph, tenant.app, '{ app { users { nodes { motto } } } }'), 400, {
    code: 'GRAPHQL_VALIDATION_FAILED',
  });

  const change = await graph.reload();

  const motto = await read(graph, tenant.app, '{ app { users { nodes { motto } } } }');
  expect(motto).toEqual({ app: { users: { nodes: [{ motto: 'motto of Grace Hopper' }] } } });
  for (const path of ['/graphql/schema.graphql', '/documentations/graphql']) {
    expect(await (await fetch(graph.url + path)).text()).toContain('motto');
  }
  expect(change && printSchema(change.before)).not.toContain('motto');
  expect(change && printSchema(change.after)).toContain('motto');
});

test('the old schema serves on when the new one cannot be built, and the next reload mends it', async () => {
  await graph.database.owner.query('alter function app_public.user_create rename to hidden');

  await expect(graph.reload()).rejects.toThrow('app_public.user_* are missing');
  expect(await read(graph, tenant.app, '{ app { users { totalCount } } }')).toEqual({
    app: { users: { totalCount: 1 } },
  });

  await graph.database.owner.query('alter function app_public.hidden rename to user_create');
  await expect(graph.reload()).resolves.not.toBeNull();
});

test('a request in flight finishes on the schema that it began with', async () => {
  await graph.database.owner.query(`
    create function app_public.users_patience("user" app_public.users) returns text language plpgsql volatile as $$
      begin perform pg_advisory_xact_lock_shared(42); return 'rewarded'; end $$;
    comment on function app_public.users_patience is '@behavior +typeField';
    grant execute on function app_public.users_patience to graph_app`);
  await graph.reload();
  const lock = await graph.database.owner.connect();
  await lock.query('begin; select pg_advisory_xact_lock(42)');
  const inFlight = ask(graph, tenant.app, '{ app { users { nodes { patience } } } }');
  await until(async () => (await waiting()) === 1);
  await graph.database.owner.query(`comment on function app_public.users_patience is '@name virtue'`);

  await graph.reload();

  const names = await read(graph, tenant.app, '{ __type(name: "User") { fields { name } } }');
  await lock.query('rollback');
  lock.release();
  expect(JSON.stringify(names)).not.toContain('patience');
  expect((await inFlight).body).toEqual({ data: { app: { users: { nodes: [{ patience: 'rewarded' }] } } } });
});

test('the offload thread goes with its schema, and gives its connections back', async () => {
  const long = (field: string) =>
    `{ app { users { nodes { ${field} } } ${[1, 2, 3, 4].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`;
  await read(graph, tenant.app, long('fullName'));
  const before = await connections();
  await addField(graph, 'surname');

  for (let times = 0; times < 2; times++) await graph.reload();

  const answer = await read(graph, tenant.app, long('surname'));
  expect(answer).toHaveProperty('app.users.nodes', [{ surname: 'surname of Grace Hopper' }]);
  await until(async () => (await connections()) <= before);
}, 120_000);

test('a column may change its type: no connection goes on with the statements of the old schema', async () => {
  const { id } = await createUnit(tenant, { name: 'Depot' });
  const query = `{ node(id: "${id}") { ... on Unit { name } } }`;
  // More at once than there are connections.
  const askOnEachConnection = () => Promise.all(Array.from({ length: 8 }, () => read(graph, tenant.app, query)));
  await askOnEachConnection();
  await graph.database.owner.query('alter table app_public.units alter column name type varchar(300)');

  await graph.reload();

  expect(await askOnEachConnection()).toEqual(Array.from({ length: 8 }, () => ({ node: { name: 'Depot' } })));
});

// Ten times in test/system/reloads.system.ts.
test('none of 400 requests fails across two reloads, and each answer is of the old or of the new schema', async () => {
  const { wrong, answered, seen } = await reloadUnderLoad(graph, tenant, 2);

  expect(wrong).toEqual([]);
  expect(answered).toBe(400);
  expect(seen.size).toBeGreaterThanOrEqual(2);
}, 120_000);

async function waiting(): Promise<number> {
  return count(`wait_event_type = 'Lock'`);
}

async function connections(): Promise<number> {
  return count(`application_name = 'graph-query-service'`);
}

async function count(condition: string): Promise<number> {
  const { rows } = await graph.database.owner.query(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and ${condition}`,
  );
  return rows[0].n;
}

import { request } from 'node:http';
import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { ask, createTenant, createUser, type GraphTest, read, type Tenant } from './support.ts';

/** Long by the number of its rows. */
const long = `{ app { ${[1, 2, 3, 4].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`;

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  await createUser(tenant);
  // The other thread reads the catalogue when it starts, which would wait for the lock, too.
  await read(graph, tenant.app, long);
});

/** Statements of the service that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await graph.database.owner.query(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'graph-query-service' and wait_event_type = 'Lock'`,
  );
  return rows[0].count;
}

/** Sends an operation and goes away when a statement of it waits for the lock that `locked` holds. */
async function goAwayDuring(query: string): Promise<void> {
  const client = request(`${graph.url}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' },
  });
  client.on('error', () => undefined);
  client.end(JSON.stringify({ query }));
  await until(async () => (await waiting()) === 1);
  client.destroy();
}

/** While another transaction keeps everybody from the users. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const owner = await graph.database.owner.connect();
  try {
    await owner.query('begin');
    await owner.query('lock table app_public.users in access exclusive mode');
    await work();
  } finally {
    await owner.query('rollback');
    owner.release();
  }
}

it.each([
  ['a short query', '{ app { users { totalCount } } }'],
  ['a long query, which another thread runs', long],
])('ends the statement of %s when its client goes away', async (_name, query) => {
  await whileLocked(async () => {
    await goAwayDuring(query);

    await until(async () => (await waiting()) === 0);
  });

  // The connections are as good as before, and no other request was cancelled.
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => read(graph, tenant.app, '{ app { users { totalCount } } }')),
  );
  expect(answers).toEqual(Array(12).fill({ app: { users: { totalCount: expect.any(Number) } } }));
  expect(graph.logs.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

it('carries a mutation through when its client goes away', async () => {
  await whileLocked(async () => {
    await goAwayDuring(
      'mutation { userCreate(fullName: "Left", email: "left@acme.test", externalIdentifier: "left") { user { id } } }',
    );
  });

  await until(async () => {
    const { body } = await ask(graph, tenant.app, '{ app { users(externalIdentifiers: ["left"]) { totalCount } } }');
    return JSON.stringify(body).includes('"totalCount":1');
  });
});

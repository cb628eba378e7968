import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  ask,
  createTenant,
  createUser,
  expectErrors,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
  type TestUser,
} from './support.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
let user: TestUser;
beforeAll(async () => {
  graph = await startGraphTest({
    STATEMENT_TIMEOUT_MS: '2000',
    DATABASE_POOL_SIZE: '1',
    DATABASE_POOL_WAIT_MS: '750',
  });
  tenant = await createTenant(graph);
  user = await createUser(tenant);
});
afterAll(() => graph.stop());

/** Runs the work while another transaction holds the user's row. */
async function whileLocked<T>(work: (holder: PoolClient) => Promise<T>): Promise<T> {
  const holder = await graph.database.owner.connect();
  try {
    await holder.query('begin');
    await holder.query('select from app_public.users where id = $1 for update', [user.uuid]);
    return await work(holder);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

const waitingStatements =
  "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";

const rename = (service: { url: string } = graph) =>
  ask(
    service,
    tenant.app,
    `mutation { userUpdate(id: "${user.id}", fullName: "Grace Hopper") { user { fullName } } __typename }`,
  );

test('a statement that takes too long is TIMEOUT at its field, and leaves nothing behind', async () => {
  // Sooner than the lock itself would take too long.
  const service = await startTestService(graph.database, { STATEMENT_TIMEOUT_MS: '1000' });
  const answer = await whileLocked(() => rename(service));
  await service.stop();

  expectErrors(answer, { userUpdate: null, __typename: 'Mutation' }, { code: 'TIMEOUT', path: ['userUpdate'] });
  expect(await read(graph, tenant.app, `{ node(id: "${user.id}") { ... on User { fullName } } }`)).toEqual({
    node: { fullName: user.fullName },
  });
});

test('when no connection is had in time, the answer is 503 with UNAVAILABLE, and when to come back', async () => {
  const [waiting, refused] = await whileLocked(async (holder) => {
    const waiting = rename();
    await until(async () => (await holder.query(waitingStatements)).rows.length > 0);
    return Promise.all([waiting, ask(graph, tenant.app, '{ app { name } }')]);
  });

  expect({ status: refused.status, ...refused.body }).toEqual({
    status: 503,
    data: { app: null },
    errors: [expect.objectContaining({ message: expect.any(String), extensions: { code: 'UNAVAILABLE' } })],
  });
  expect(refused.headers.get('Retry-After')).toBe('2');
  // It had the connection, and not the row.
  expect(waiting.body.errors?.[0]?.message).toContain('locked by another change');
  expect(await read(graph, tenant.app, '{ app { name } }')).toEqual({ app: { name: 'Acme Backend' } });
});

describe('who had to wait for its turn first', () => {
  const query = '{ app { name } }';

  /** Two that have the connection or wait for it, and one that comes a little later and waits until one of them is gone. */
  async function crowd() {
    const changed = rename();
    await until(async () => (await graph.database.owner.query(waitingStatements)).rows.length > 0);
    const next = ask(graph, tenant.app, query).then((answer) => ({ answer, at: performance.now() }));
    await delay(200);
    const since = performance.now();
    const last = ask(graph, tenant.app, query).then((answer) => ({ answer, since, at: performance.now() }));
    return { changed, next, last };
  }

  test('is refused no later than who waits for a connection', async () => {
    const { next, last } = await whileLocked(async () => {
      const { changed, ...others } = await crowd();
      await changed;
      return others;
    });

    const [refused, late] = [await next, await last];
    for (const { answer } of [refused, late]) {
      expect([answer.status, answer.body.errors?.[0]?.extensions?.code]).toEqual([503, 'UNAVAILABLE']);
    }
    // Were both waits as long, it would begin to wait for a connection when the other is refused, and then wait for 750 ms.
    expect(late.at - refused.at).toBeLessThan(750);
  });

  test('is served when one becomes free in time', async () => {
    const { changed, next, last } = await whileLocked(async (holder) => {
      const asked = await crowd();
      await holder.query('rollback');
      return asked;
    });

    const answers = [await changed, (await next).answer, (await last).answer];
    expect(answers.map(({ status, body }) => [status, body.errors])).toEqual(Array(3).fill([200, undefined]));
  });
});

test('a query of several statements is over with the first that takes too long', async () => {
  // With a connection to spare, on which its statement is explained to operators.
  const service = await startTestService(graph.database, { STATEMENT_TIMEOUT_MS: '3000' });
  const query = '{ one: app { rootUnits { totalCount } } two: app { rootUnits(first: 1) { totalCount } } }';
  await read(service, tenant.app, query);
  const holder = await graph.database.owner.connect();
  await holder.query('begin');
  await holder.query('lock table app_public.units');
  const since = performance.now();

  const answer = await ask(service, tenant.app, query);
  const tookMs = performance.now() - since;
  await holder.query('rollback');
  holder.release();

  const timeouts = ['one', 'two'].map((field) => ({ code: 'TIMEOUT', path: [field] }));
  expectErrors(answer, { one: null, two: null }, ...timeouts);
  // One after the other they would take twice as long.
  expect(tookMs).toBeLessThan(6000);
  await service.stop();
});

test('a token that cannot be looked up in time is no failure of ours', async () => {
  // A token that was seen before needs no look-up.
  const { app: unknown } = await createTenant(graph);
  const holder = await graph.database.owner.connect();
  await holder.query('begin');
  await holder.query('lock table oauth.access_tokens');

  const answer = await ask(graph, unknown, '{ app { name } }');
  await holder.query('rollback');
  holder.release();

  expectRefused(answer, 503, { code: 'UNAVAILABLE' });
  expect(answer.headers.get('Retry-After')).toBe('2');
  expect(await read(graph, unknown, '{ app { name } }')).toEqual({ app: { name: 'Acme Backend' } });
});

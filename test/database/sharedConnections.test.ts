import { randomUUID } from 'node:crypto';
import { loadConfig } from '../../src/config.ts';
import type { Precondition, Statement } from '../../src/database/driver/statement.ts';
import { createPool, type EvictablePool } from '../../src/database/pool/pools.ts';
import { type SharedConnection, SharedConnections } from '../../src/database/pool/SharedConnections.ts';
import { isUnavailable } from '../../src/database/pool/unavailable.ts';
import { createLog } from '../../src/log.ts';
import { queryInImplicitTransaction } from '../../src/token/implicitTransaction.ts';
import type { TransactionSettings } from '../../src/token/settings.ts';
import { asTenant } from '../support/asTenant.ts';
import { createTestClock } from '../support/clock.ts';
import { byTcp, createTestDatabase, listenerOf, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { startTcpProxy, type TcpProxy } from '../system/support/tcpProxy.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let pool: EvictablePool;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.owner.query(`
    create table app_public.notes (id int primary key);
    insert into app_public.notes values (1);
    grant select on app_public.notes to graph_app;
    create function app_public.require_note(boolean) returns void language plpgsql as
      $$ begin if not $1 then raise exception 'refused' using errcode = 'TOKEN'; end if; end $$;
    grant execute on function app_public.require_note(boolean) to graph_app`);
});
afterAll(() => database.drop());
beforeEach(async () => {
  proxy = await startTcpProxy(() => listenerOf(database.authUrl));
  pool = await createTestPool();
});
afterEach(async () => {
  await pool.end();
  await proxy.stop();
});

/** Of its connections one is shared, unless more are asked for. */
async function createTestPool(environment: Record<string, string> = {}): Promise<EvictablePool> {
  const config = loadConfig({ DATABASE_POOL_SIZE: '3', ...environment }, 'serve');
  const created = createPool(byTcp(database.authUrl, proxy.port), config, createLog('silent'));
  // Its statements are prepared, as on a connection that has served others.
  await share(created, [select('state', state)]);
  return created;
}

/** The settings of a request whose claims are no other's. */
const newSettings = (): TransactionSettings => ({
  role: 'graph_app',
  'graph.organization_id': randomUUID(),
  'graph.application_id': randomUUID(),
  'graph.user_id': '',
  'graph.scope': 'app',
  'graph.grant_id': randomUUID(),
  'graph.request_id': randomUUID(),
  'graph.row_limit': '10000',
  statement_timeout: '10ms',
});

const names = Object.keys(newSettings());
const state = `select ${names.map((name) => `coalesce(current_setting('${name}', true), '')`).join(', ')}`;
const select = (name: string, text: string): Statement => ({ name, text, values: [], rowMode: 'array' });
const proof = (holds: boolean): Precondition => ({
  name: 'require_note',
  isPinned: true,
  text: 'select app_public.require_note($1)',
  values: [String(holds)],
});

type Ran = { readonly settings: TransactionSettings; readonly outcome: unknown };

async function acquire(from: EvictablePool): Promise<SharedConnection> {
  const shared = await from.shared.acquire();
  if (!shared) throw new Error('There is no room on a shared connection.');
  return shared;
}

/** Runs them at once on shared connections; their rows, or errors. */
async function share(
  from: EvictablePool,
  statements: readonly Statement[],
  proofs: readonly (Precondition | null)[] = [],
): Promise<Ran[]> {
  const connections: SharedConnection[] = [];
  for (const _statement of statements) connections.push(await acquire(from));
  return Promise.all(
    connections.map(async ({ client, release }, index) => {
      const { timeout = '10ms', ...statement } = statements[index] as Statement & { timeout?: string };
      const settings = { ...newSettings(), statement_timeout: timeout };
      const outcome = await queryInImplicitTransaction(client, settings, statement, proofs[index] ?? null).then(
        ({ rows }) => rows,
        (error: unknown) => error,
      );
      release();
      return { settings, outcome };
    }),
  );
}

const turn = (request: object, round: number) => (JSON.stringify(request).length * (round + 1)) % 7;
const backendOf = ({ client }: SharedConnection) => (client as unknown as { processID: number }).processID;
const own = ({ settings }: Ran) => [names.map((name) => settings[name as keyof TransactionSettings])];

test('a connection takes four, then another one is opened, and the rest gets none', async () => {
  const clock = createTestClock();
  const open = () => pool.connect();
  const connections = new SharedConnections({ maxConnections: 2, open, isUsable: () => true }, clock);
  const shared: SharedConnection[] = [];
  for (let one = await connections.acquire(); one; one = await connections.acquire()) shared.push(one);

  const backends = shared.map(backendOf);
  expect(backends).toHaveLength(8);
  for (const backend of backends) expect(backends.filter((other) => other === backend)).toHaveLength(4);

  shared.pop()?.release();
  shared.push((await connections.acquire()) as SharedConnection);
  for (const { release } of shared) release();
  expect(pool.idleCount).toBe(pool.totalCount);
});

test('a connection that has answered none for long takes no more, until it answers', async () => {
  const clock = createTestClock();
  const open = () => pool.connect();
  const connections = new SharedConnections({ maxConnections: 1, open, isUsable: () => true }, clock);
  const [first, second] = [await connections.acquire(), await connections.acquire()];

  clock.compute(101);
  expect(await connections.acquire()).toBeNull();
  first?.release();
  const third = await connections.acquire();

  expect(backendOf(third as SharedConnection)).toBe(backendOf(second as SharedConnection));
  second?.release();
  third?.release();
});

test('each statement sees its own claims, whatever fails beside it', async () => {
  const requests = [
    { statement: select('state', state), proof: proof(true) },
    { statement: select('broken', 'select 1 / (select 0 from app_public.notes)'), proof: null, code: '22012' },
    { statement: select('state', state), proof: proof(false), code: 'TOKEN' },
    { statement: select('forbidden', 'select * from oauth.access_tokens'), proof: proof(true), code: '42501' },
  ];
  for (const request of requests) await share(pool, [request.statement], [request.proof]);

  for (let round = 0; round < 300; round++) {
    // What fails is before, between and behind the others.
    const order = requests.toSorted((one, other) => turn(one, round) - turn(other, round));
    const ran = await share(
      pool,
      order.map(({ statement }) => statement),
      order.map((request) => request.proof),
    );
    for (const [index, { code }] of order.entries()) {
      const each = ran[index] as Ran;
      if (code) expect(each.outcome).toMatchObject({ code });
      else expect(each.outcome).toEqual(own(each));
    }
  }

  const left = await pool.query({ text: state, rowMode: 'array' });
  expect(left.rows).toEqual([[expect.not.stringMatching('graph_app'), ...names.slice(1, -1).map(() => ''), '10s']]);
});

test('a slow neighbour is ended by PostgreSQL, and those behind it are answered', async () => {
  await share(pool, [select('sleep', 'select pg_sleep(60)::text')]);

  const [before, slow, ...behind] = await share(pool, [
    select('state', state),
    select('sleep', 'select pg_sleep(60)::text'),
    select('state', state),
    select('state', state),
  ]);

  expect(slow?.outcome).toMatchObject({ code: '57014' });
  for (const each of [before, ...behind] as Ran[]) expect(each.outcome).toEqual(own(each));
});

test('a connection that is lost fails all that are in flight, and is replaced', async () => {
  const lost = await acquire(pool);
  const sleep = { ...select('sleep', 'select pg_sleep(60)::text'), timeout: '60s' };
  const ran = share(pool, [sleep, select('state', state), select('state', state)]);
  lost.release();
  await until(async () => {
    const { rowCount } = await database.owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where pid = $1 and wait_event = 'PgSleep'`,
      [backendOf(lost)],
    );
    return rowCount === 1;
  });

  for (const { outcome } of await ran) expect(isUnavailable(outcome)).toBe(true);

  const next = await acquire(pool);
  expect(backendOf(next)).not.toBe(backendOf(lost));
  next.release();
  const [answered] = await share(pool, [select('state', state)]);
  expect(answered?.outcome).toEqual(own(answered as Ran));
});

test('a connection that is silent takes no more, and all that are in flight fail a second after the timeout', async () => {
  const quick = await createTestPool({ STATEMENT_TIMEOUT_MS: '500', DATABASE_POOL_WAIT_MS: '1000' });
  await proxy.become({ kind: 'silent' });
  const ran = share(quick, [select('state', state), select('state', state)]);

  await until(async () => {
    const room = await quick.shared.acquire();
    room?.release();
    return room === null;
  });

  for (const { outcome } of await ran) expect(isUnavailable(outcome)).toBe(true);
  await proxy.become({ kind: 'clear' });
  const [next] = await share(quick, [select('state', state)]);
  expect(next?.outcome).toEqual(own(next as Ran));
  await quick.end();
});

test('a connection that is evicted takes no more, and those in flight end', async () => {
  const shared = await acquire(pool);
  (await acquire(pool)).release();
  pool.evictAll();

  expect(await pool.shared.acquire()).toBeNull();
  expect((await queryInImplicitTransaction(shared.client, newSettings(), select('state', state))).rowCount).toBe(1);
  shared.release();
  const next = await acquire(pool);
  expect(backendOf(next)).not.toBe(backendOf(shared));
  next.release();
});

test('a connection that prepares a statement takes no more, since preparing may fail', async () => {
  const [first, second] = [await acquire(pool), await acquire(pool)];
  const text = select('new', 'select 1::text');
  const refused = queryInImplicitTransaction(first.client, newSettings(), text, proof(false));
  await expect(refused.catch(({ code }) => code)).resolves.toBe('TOKEN');
  first.release();

  const preparing = queryInImplicitTransaction(second.client, newSettings(), text);
  expect(await pool.shared.acquire()).toBeNull();
  expect((await preparing).rows).toEqual([['1']]);
  second.release();
});

test('a tenant that has all room on shared connections keeps no other from a connection', async () => {
  const ofTenant = (tenant: string) => asTenant(tenant, () => pool.shared.acquire());
  const full: SharedConnection[] = [];
  for (let one = await ofTenant('busy'); one; one = await ofTenant('busy')) full.push(one);
  const busy = await Promise.all([asTenant('busy', () => pool.connect()), asTenant('busy', () => pool.connect())]);

  const other = await asTenant('another', () => pool.connect());

  expect(full).toHaveLength(4);
  for (const client of [other, ...busy, ...full]) client.release();
});

test('a tenant that has all connections keeps no other from a shared one', async () => {
  const busy = await Promise.all([1, 2, 3].map(() => asTenant('busy', () => pool.connect())));

  const shared = await asTenant('another', () => acquire(pool));

  for (const client of [shared, ...busy]) client.release();
});

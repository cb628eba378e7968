import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { loadConfig } from '../../src/config.ts';
import { cancelStatement } from '../../src/database/driver/driver.ts';
import { createPool, type EvictablePool } from '../../src/database/pool/pools.ts';
import { type DatabaseWatch, watchDatabase } from '../../src/database/pool/readiness.ts';
import { isUnavailable } from '../../src/database/pool/unavailable.ts';
import { createLog } from '../../src/log.ts';
import { byTcp, createTestDatabase, listenerOf, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { startTcpProxy, type TcpProxy } from '../system/support/tcpProxy.ts';

// A database whose packets no longer arrive: connections neither end nor answer.

let database: TestDatabase;
let proxy: TcpProxy;
let authUrl: string;
let pool: EvictablePool;
let watch: DatabaseWatch;
let logs: string[];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  proxy = await startTcpProxy(() => listenerOf(database.authUrl));
  authUrl = byTcp(database.authUrl, proxy.port);
  logs = [];
});
afterEach(async () => {
  await watch.stop();
  await proxy.stop();
  await pool.end();
});

function start(environment: Record<string, string>): void {
  const config = loadConfig({ DATABASE_POOL_SIZE: '2', ...environment }, 'serve');
  const log = createLog('info', { write: (line) => logs.push((JSON.parse(line) as { msg: string }).msg) });
  pool = createPool(authUrl, config, log);
  watch = watchDatabase({
    pool,
    login: { variable: 'AUTH_DATABASE_URL', url: authUrl, requestRoles: [] },
    poolWaitMs: config.poolWaitMs,
    log,
  });
}

/** Asks something on a connection that is there already; its answer, or the error. */
const ask = (client: PoolClient): Promise<unknown> =>
  client.query('select 1 as one').then(
    ({ rows }) => rows[0]?.one,
    (error: unknown) => error,
  );

test('a pending statement fails a second after its timeout', async () => {
  start({ STATEMENT_TIMEOUT_MS: '500', DATABASE_POOL_WAIT_MS: '1000' });
  const client = await pool.connect();
  expect(await ask(client)).toBe(1);
  await proxy.become({ kind: 'silent' });

  // Timers that are due fire in their order, so that a busy machine does not make it look late.
  const answer = await Promise.race([ask(client), delay(3000, 'nothing within 3 s', { ref: false })]);

  expect(isUnavailable(answer)).toBe(true);
  client.release();
  await proxy.become({ kind: 'clear' });
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('half-open connections are destroyed when the database answers again, without a request', async () => {
  start({ STATEMENT_TIMEOUT_MS: '600000', DATABASE_POOL_WAIT_MS: '1000' });
  const client = await pool.connect();
  await proxy.become({ kind: 'silent' });
  const answer = ask(client);
  await until(() => logs.includes('the database is not ready'));

  await proxy.become({ kind: 'clear' });

  expect(isUnavailable(await answer)).toBe(true);
  client.release();
  await until(() => logs.includes('the database is ready'));
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('the log tells once that the database is away, and once that it is back', async () => {
  start({ DATABASE_POOL_WAIT_MS: '1000' });
  await pool.query('select');

  await proxy.become({ kind: 'refused' });
  for (let n = 0; n < 20; n++) await expect(pool.query('select')).rejects.toThrow();
  await until(() => logs.length > 0);
  expect(await watch.readiness()).toBe('The database does not answer.');
  await proxy.become({ kind: 'clear' });
  await until(() => logs.length > 1);

  expect(logs).toEqual(['the database is not ready', 'the database is ready']);
  expect(await watch.readiness()).toBeNull();
});

test('that all connections are busy is no outage', async () => {
  start({ DATABASE_POOL_WAIT_MS: '1000' });
  const [one, other] = await Promise.all([pool.connect(), pool.connect()]);

  await expect(pool.query('select')).rejects.toThrow();
  expect(await watch.readiness()).toBeNull();

  one.release();
  other.release();
  expect(logs).toEqual([]);
});

test('a slow statement is no outage', async () => {
  start({ DATABASE_POOL_WAIT_MS: '1000' });

  await pool.query('select pg_sleep(1.2)');

  expect(await watch.readiness()).toBeNull();
  expect(logs).toEqual([]);
});

test('a cancellation that may still come costs the connection', async () => {
  start({});
  const client = await pool.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  await proxy.become({ kind: 'silent' });

  await cancelStatement(client);
  await proxy.become({ kind: 'clear' });
  client.release();

  const next = await pool.query<{ pid: number }>('select pg_backend_pid() as pid');
  expect(next.rows[0]?.pid).not.toBe(rows[0]?.pid);
});

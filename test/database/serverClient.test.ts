import type { PoolClient } from 'pg';
import { loadConfig } from '../../src/config.ts';
import { isStalePlan } from '../../src/database/driver/driver.ts';
import { createPool, type EvictablePool } from '../../src/database/pool/pools.ts';
import { isRetryable } from '../../src/database/pool/unavailable.ts';
import { createLog } from '../../src/log.ts';
import { oauthSettings } from '../../src/token/settings.ts';
import { inTransaction, queryInImplicitTransaction, queryOnce } from '../../src/token/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Behind some poolers the next transaction has another session, which knows none of the names that were given in this one.

let database: TestDatabase;
const pools: EvictablePool[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

function connections(environment: Record<string, string>): EvictablePool {
  const config = loadConfig({ DATABASE_POOL_SIZE: '1', ...environment }, 'serve');
  const pool = createPool(database.authUrl, config, createLog('silent'));
  pools.push(pool);
  return pool;
}

const settings = oauthSettings(null, { id: 'request-1', ofServer: 'server-1' });
const named = { name: 'who', text: `select current_user as role, $1::text as value`, values: ['x'] };
const check = { name: 'check', isPinned: true as const, text: 'select 1 / length($1)', values: ['proven'] };
const refuted = { ...check, values: [''] };
const answer = [{ role: 'graph_oauth', value: 'x' }];

/** Asks by each of the ways on which statements are given names. */
async function askEveryWay(pool: EvictablePool): Promise<unknown[]> {
  const client = await pool.connect();
  const alone = await queryInImplicitTransaction(client, settings, named);
  const proven = await queryInImplicitTransaction(client, settings, named, check);
  client.release();
  const among = await inTransaction(pool, settings, (client) => client.query(named));
  return [alone.rows, proven.rows, among.rows];
}

const kept = async (pool: EvictablePool) =>
  (await pool.query<{ name: string }>('select name from pg_prepared_statements order by name')).rows.map(
    ({ name }) => name,
  );

test('statements get their names, and the session keeps them', async () => {
  const pool = connections({});

  expect(await askEveryWay(pool)).toEqual([answer, answer, answer]);
  expect(await askEveryWay(pool)).toEqual([answer, answer, answer]);

  expect(await kept(pool)).toEqual(['check', 'settings', 'who']);
});

test('without them the answers are the same, and the session keeps nothing', async () => {
  const pool = connections({ DATABASE_PREPARED_STATEMENTS: 'false' });

  expect(await askEveryWay(pool)).toEqual([answer, answer, answer]);
  expect(await askEveryWay(pool)).toEqual([answer, answer, answer]);

  expect(await kept(pool)).toEqual([]);
});

test.each(['true', 'false'])(
  'a precondition that fails keeps the statement from running (names: %s)',
  async (names) => {
    const pool = connections({ DATABASE_PREPARED_STATEMENTS: names });
    const client = await pool.connect();

    const outcome = queryInImplicitTransaction(client, settings, named, refuted);

    await expect(outcome).rejects.toMatchObject({ code: '22012' });
    client.release();
    expect(await askEveryWay(pool)).toEqual([answer, answer, answer]);
  },
);

describe('a statement whose result has other types than when it was prepared', () => {
  const alter = (type: string) => database.owner.query(`alter table public.typed alter column value type ${type}`);
  const read = { name: 'typed', text: 'select value from public.typed' };
  const askWith = (client: PoolClient) => queryInImplicitTransaction(client, settings, read);
  const isRefused = async (client: PoolClient) => isStalePlan(await askWith(client).catch((error: unknown) => error));
  beforeEach(() =>
    database.owner.query('create table public.typed as select 1 as value; grant select on public.typed to graph_oauth'),
  );
  afterEach(() => database.owner.query('drop table public.typed'));

  test('fails once, and the pool prepares anew; others of the time before do not make it begin again', async () => {
    const pool = connections({ DATABASE_POOL_SIZE: '2' });
    const clients = [await pool.connect(), await pool.connect()];
    for (const client of clients) expect((await askWith(client)).rows).toEqual([{ value: 1 }]);
    await alter('text');

    for (const client of clients) {
      const error = await askWith(client).catch((error: unknown) => error);
      expect([isStalePlan(error), isRetryable(error)]).toEqual([true, true]);
      client.release();
    }

    const next = await pool.connect();
    expect((await askWith(next)).rows).toEqual([{ value: '1' }]);
    const { rows } = await next.query('select statement from pg_prepared_statements where name = $1', ['typed']);
    next.release();
    expect(rows).toEqual([{ statement: expect.stringMatching(/^select value from public\.typed -- [-0-9a-f]{36}$/) }]);
    const again = await pool.connect();
    expect((await again.query('select statement from pg_prepared_statements where name = $1', ['typed'])).rows).toEqual(
      rows,
    );
    again.release();
  });

  test('does not fail again on a connection that was opened meanwhile', async () => {
    const pool = connections({ DATABASE_POOL_SIZE: '2' });
    const early = await pool.connect();
    await askWith(early);
    await alter('text');
    const opening = pool.connect();
    expect(await isRefused(early)).toBe(true);
    early.release();
    const late = await opening;
    await askWith(late);
    await alter('int using 1');

    expect(await isRefused(late)).toBe(true);
    late.release();

    expect((await queryOnce(pool, settings, read)).rows).toEqual([{ value: 1 }]);
  });

  test('is not what another kind of refusal with its code is', async () => {
    const locking = 'select relkind from pg_class group by relkind for update';
    const refusal = await database.owner.query(locking).catch((error: unknown) => error);

    expect(isStalePlan(refusal)).toBe(false);
    expect(refusal).toMatchObject({ code: '0A000' });
  });
});

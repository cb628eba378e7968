import { loadConfig } from '../../src/config.ts';
import { createPool, type EvictablePool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { queryInImplicitTransaction } from '../../src/token/implicitTransaction.ts';
import { oauthSettings } from '../../src/token/settings.ts';
import { inTransaction } from '../../src/token/transaction.ts';
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

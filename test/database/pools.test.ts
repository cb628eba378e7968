import { loadConfig } from '../../src/config.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { DatabaseUnavailable, isUnavailable } from '../../src/database/pool/unavailable.ts';
import { createLog } from '../../src/log.ts';
import { asTenant } from '../support/asTenant.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

describe('the connections of the server', () => {
  const logs: string[] = [];
  const log = createLog('trace', { write: (line) => logs.push(line) });
  let database: TestDatabase;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(() => database.drop());

  it('are waited for only so long', async () => {
    const pool = createTestPool({ DATABASE_POOL_SIZE: '1', DATABASE_POOL_WAIT_MS: '1000' });
    const busy = await pool.connect();

    await expect(pool.query('select 1')).rejects.toThrow(DatabaseUnavailable);
    await expect(pool.connect()).rejects.toThrow(DatabaseUnavailable);

    busy.release();
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('may be lost while a request has one, whose next statement fails', async () => {
    const pool = createTestPool({});
    const taken = await pool.connect();
    const { rows } = await taken.query<{ pid: number }>('select pg_backend_pid() as pid');
    const lost = new Promise((resolve) => taken.once('end', resolve));

    await database.owner.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await lost;

    const error: unknown = await taken.query('select 1').catch((reason: unknown) => reason);
    expect(Error.isError(error)).toBe(true);
    taken.release(true);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('are there for a tenant that has none, though another one has all', async () => {
    const pool = createTestPool({ DATABASE_POOL_SIZE: '2', DATABASE_POOL_WAIT_MS: '20000' });
    const connectAs = (tenant: string, waitMs = 20_000) => asTenant(tenant, () => pool.connect(), waitMs);
    const busy = await Promise.all([connectAs('busy'), connectAs('busy')]);
    const refused = expect(connectAs('busy', 300)).rejects.toBeInstanceOf(DatabaseUnavailable);

    const others = await Promise.all([connectAs('neighbour'), connectAs('another')]);
    expect(pool.waitingCount).toBe(1);
    await refused;
    await expect(connectAs('neighbour', 300)).rejects.toBeInstanceOf(DatabaseUnavailable);

    for (const client of [...busy, ...others]) client.release();
    (await connectAs('busy')).release();
    expect(pool.totalCount).toBe(4);
    await pool.end();
  });

  it('end a statement that takes too long, which is not an outage', async () => {
    const pool = createTestPool({ STATEMENT_TIMEOUT_MS: '100' });

    const error: unknown = await pool.query('select pg_sleep(60)').catch((reason: unknown) => reason);

    expect(error).toMatchObject({ code: '57014' });
    expect(isUnavailable(error)).toBe(false);
    await pool.end();
  });

  it('may be lost, idle or in use, without a password in the log', async () => {
    const pool = createTestPool({});
    const idle = await pool.connect();
    const inUse = pool.query('select pg_sleep(60)').catch((reason: unknown) => reason);
    await until(async () => (await busySessions()) === 1);
    idle.release();

    await database.owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and application_name = 'graph-query-service'`,
    );

    expect(isUnavailable(await inUse)).toBe(true);
    await until(() => logs.join().includes('lost an idle database connection'));
    expect(logs.join()).not.toContain(new URL(database.authUrl).password);
    expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('fail as an outage when nothing listens', async () => {
    const pool = createPool('postgres://nobody:secret@127.0.0.1:1/none', loadConfig({}, 'serve'), log);

    await expect(pool.query('select 1')).rejects.toThrow(DatabaseUnavailable);

    await pool.end();
  });

  const createTestPool = (environment: Record<string, string>) =>
    createPool(database.authUrl, loadConfig(environment, 'serve'), log);

  async function busySessions(): Promise<number | null> {
    const sessions = await database.owner.query(
      `select from pg_stat_activity where datname = current_database() and query like '%pg_sleep(60)' and state = 'active'`,
    );
    return sessions.rowCount;
  }
});

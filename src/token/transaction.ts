import type { Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg';
import type { TransactionSettings } from './settings.ts';

/**
 * Runs `work` in one transaction under these settings, all of them local to it. Commits what it resolves to, rolls back
 * when it throws; the connection goes back as the authenticator without claims, or not at all.
 */
export async function inTransaction<T>(
  pool: Pool,
  settings: TransactionSettings,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let unusable = false;
  try {
    await allOf([client.query('begin'), client.query(setSettings(settings))]);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    unusable = await failed(client.query('rollback'));
    throw error;
  } finally {
    client.release(unusable);
  }
}

/**
 * Runs one statement in a transaction of its own under these settings. Everything is queued at once, so that a pipelined
 * connection makes one round trip of it; when a part fails PostgreSQL refuses the rest, and the commit rolls back.
 */
export async function queryOnce<Row extends QueryResultRow>(
  pool: Pool,
  settings: TransactionSettings,
  query: QueryConfig,
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  const begun = client.query('begin');
  const set = client.query(setSettings(settings));
  const result = client.query<Row>(query);
  const committed = client.query('commit');
  try {
    await allOf([begun, set, result, committed]);
    return await result;
  } finally {
    client.release(await failed(committed));
  }
}

/** Prepared once per connection: the keys are the same each time, since a settings object always has all of them. */
function setSettings(settings: TransactionSettings): QueryConfig {
  const values = Object.entries(settings).flat();
  const calls = Object.keys(settings).map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  return { name: 'settings', text: `select ${calls.join(', ')}`, values };
}

/** Waits until all are over, then throws what failed first: none is left running on a connection that goes back. */
async function allOf(queries: Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(queries)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

const failed = (query: Promise<unknown>) =>
  query.then(
    () => false,
    () => true,
  );

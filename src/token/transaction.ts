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
    await client.query('begin');
    await client.query(setSettings(settings));
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    unusable = await client.query('rollback').then(
      () => false,
      () => true,
    );
    throw error;
  } finally {
    client.release(unusable);
  }
}

/** Runs one statement in a transaction of its own under these settings. */
export function queryOnce<Row extends QueryResultRow>(
  pool: Pool,
  settings: TransactionSettings,
  query: QueryConfig,
): Promise<QueryResult<Row>> {
  return inTransaction(pool, settings, (client) => client.query<Row>(query));
}

/** Prepared once per connection: the keys are the same each time, since a settings object always has all of them. */
function setSettings(settings: TransactionSettings): QueryConfig {
  const values = Object.entries(settings).flat();
  const calls = Object.keys(settings).map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`);
  return { name: 'settings', text: `select ${calls.join(', ')}`, values };
}

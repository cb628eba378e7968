import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { Precondition, Statement } from '../database/driver/statement.ts';
import { evictPoolOf } from '../database/pool/pools.ts';
import { rollBack } from '../database/pool/rollBack.ts';
import { isReadOnly } from '../database/pool/unavailable.ts';
import { queryInImplicitTransaction } from './implicitTransaction.ts';
import { type TransactionSettings, toStatement } from './settings.ts';

/**
 * Runs `work` in one transaction under these settings, all of them local to it.
 * It commits the result, or rolls back when `work` throws. The connection returns as the authenticator without claims, or not at all.
 */
export async function inTransaction<T>(
  pool: Pool,
  settings: TransactionSettings,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let unusable = false;
  try {
    await allOf([client.query('begin'), client.query(toStatement(settings))]);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    if (isReadOnly(error)) evictPoolOf(client);
    unusable = await rollBack(client);
    throw error;
  } finally {
    client.release(unusable);
  }
}

/** Runs one statement in its own transaction under these settings, in one round trip. */
export async function queryOnce<Row extends QueryResultRow>(
  pool: Pool,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  try {
    return await queryInImplicitTransaction<Row>(client, settings, statement, precondition);
  } finally {
    client.release();
  }
}

/** Throws the first failure when all have settled, so that none still runs on a released connection. */
export async function allOf(queries: Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(queries)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
}

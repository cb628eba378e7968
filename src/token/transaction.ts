import type { Pool, PoolClient, QueryResult, QueryResultRow } from 'pg';
import { cancellable } from '../database/driver/cancellable.ts';
import { withPreparedName } from '../database/driver/preparedStatements.ts';
import type { Precondition, Statement } from '../database/driver/statement.ts';
import { runTransaction } from '../database/pool/runTransaction.ts';
import { queryInImplicitTransaction } from './implicitTransaction.ts';
import { type TransactionSettings, toStatement } from './settings.ts';

/**
 * Runs `work` in one transaction under these settings, all of them local to it.
 * It commits the result, or rolls back when `work` throws. The connection returns as the authenticator without claims, or not at all.
 *
 * @param precondition runs under the settings before `work`, in the same round trip; `work` does not begin if that fails
 */
export const inTransaction = <T>(
  pool: Pool,
  settings: TransactionSettings,
  work: (client: PoolClient) => Promise<T>,
  precondition: Precondition | null = null,
): Promise<T> =>
  runTransaction(
    pool,
    (client) => {
      const opening: Promise<unknown>[] = [client.query('begin'), client.query(toStatement(settings))];
      if (precondition) opening.push(client.query(withPreparedName(client, precondition)));
      return allOf(opening);
    },
    work,
  );

/**
 * Runs one statement in its own transaction under these settings, in one round trip.
 *
 * @param signal cancels the statement when it aborts
 */
export async function queryOnce<Row extends QueryResultRow>(
  pool: Pool,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
  signal: AbortSignal | null = null,
): Promise<QueryResult<Row>> {
  const client = await pool.connect();
  const run = () => queryInImplicitTransaction<Row>(client, settings, statement, precondition);
  try {
    return await (signal ? cancellable(client, signal, run) : run());
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

import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { type OpenTransaction, queryHeldOpen } from '../database/driver/heldOpen.ts';
import { type CallbackConfig, queryAfter } from '../database/driver/pipelinedQueries.ts';
import { withPreparedName } from '../database/driver/preparedStatements.ts';
import type { Precondition, Statement } from '../database/driver/statement.ts';
import { evictPoolOf } from '../database/pool/pools.ts';
import { isReadOnly } from '../database/pool/unavailable.ts';
import { type TransactionSettings, toStatement } from './settings.ts';
import { publishStatement } from './uses.ts';

/**
 * Runs one statement under these settings in an implicit transaction: one round trip, pipelined.
 * PostgreSQL ends the settings with it, whatever its outcome. Then the connection may serve another request, unless its server is
 * read-only:
 * another server may be the primary by now.
 *
 * @param precondition runs under the settings before the statement, which does not run if that fails
 */
export function queryInImplicitTransaction<Row extends QueryResultRow>(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
): Promise<QueryResult<Row>> {
  return new Promise((resolve, reject) => {
    const [first, config] = pipelineOf(client, settings, statement, precondition, (error, result) =>
      error ? reject(error) : resolve(result as QueryResult<Row>),
    );
    queryAfter(client, first, config);
  });
}

/** The rows of a statement whose implicit transaction is open. */
export type Uncommitted = OpenTransaction & { readonly result: QueryResult };

/** Like {@link queryInImplicitTransaction}, but leaves the transaction open until the caller ends it. */
export function queryUncommitted(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null,
): Promise<Uncommitted> {
  return new Promise((resolve, reject) => {
    const [first, config] = pipelineOf(client, settings, statement, precondition, (error, result) =>
      error ? reject(error) : resolve({ ...transaction, result }),
    );
    const transaction = queryHeldOpen(client, first, config);
  });
}

/** The statements to send: the settings, the precondition and the statement. */
function pipelineOf(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null,
  settle: (error: Error | null, result: QueryResult) => void,
): [readonly Precondition[], CallbackConfig] {
  publishStatement(settings, statement.text);
  if (precondition) publishStatement(settings, precondition.text);
  const set = toStatement(settings);
  const callback = (error: Error | null, result: QueryResult) => {
    if (isReadOnly(error)) evictPoolOf(client);
    settle(error, result);
  };
  return [precondition ? [set, precondition] : [set], { ...withPreparedName(client, statement), callback }];
}

import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import { queryAfter } from '../database/driver/pipelinedQueries.ts';
import { withPreparedName } from '../database/driver/preparedStatements.ts';
import type { Precondition, Statement } from '../database/driver/statement.ts';
import { evictPoolOf } from '../database/pool/pools.ts';
import { isReadOnly } from '../database/pool/unavailable.ts';
import { type TransactionSettings, toStatement } from './settings.ts';
import { publishStatement } from './uses.ts';

/**
 * Runs one statement under these settings in an implicit transaction: one round trip, pipelined.
 * PostgreSQL ends the settings with it, whatever its outcome. Then the connection may serve another request, unless its server is
 * read-only: the primary may be another by now.
 *
 * @param precondition runs under the settings before the statement, which does not run if that fails
 */
export function queryInImplicitTransaction<Row extends QueryResultRow>(
  client: PoolClient,
  settings: TransactionSettings,
  statement: Statement,
  precondition: Precondition | null = null,
): Promise<QueryResult<Row>> {
  const set = toStatement(settings);
  publishStatement(settings, statement.text);
  if (precondition) publishStatement(settings, precondition.text);
  return new Promise((resolve, reject) => {
    const callback = (error: Error | null, result: QueryResult<Row>) => {
      if (isReadOnly(error)) evictPoolOf(client);
      if (error) reject(error);
      else resolve(result);
    };
    queryAfter(client, precondition ? [set, precondition] : [set], {
      ...withPreparedName(client, statement),
      callback,
    });
  });
}

import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import type { Log } from '../../log.ts';
import { isDue } from '../../observability/requestFields.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { documentWithoutValues, sqlWithoutValues } from './answer.ts';
import type { Operation, RanStatement } from './operation.ts';

type OperationStats = {
  readonly durationMs: number;
  readonly planningMs: number;
  readonly code: string | undefined;
  readonly wasUnavailable: boolean;
  readonly ran: readonly RanStatement[];
  readonly settings: TransactionSettings | null;
};

/**
 * Slow-query log: operations that were slow, or failed by a fault of ours.
 * It has the document, its SQL, and PostgreSQL's plan of the slowest statement, all without values.
 */
export function createSlowOperations({ pool, slowMs, log }: { pool: Pool; slowMs: number; log: Log }) {
  const explain = createExplain(pool, log);

  return (
    { prepared, token, requestId }: Operation,
    { durationMs, planningMs, code, wasUnavailable, ran, settings }: OperationStats,
  ): void => {
    const hasFailed = code === 'INTERNAL' || code === 'TIMEOUT';
    if (wasUnavailable || (durationMs < slowMs && !hasFailed) || !isDue(log, 'slow operations', maxPerMinute)) return;
    const report = async () => {
      const slowest = ran.toSorted((one, other) => other.durationMs - one.durationMs)[0];
      const plan = slowest && settings && (await explain(slowest.text, settings));
      const fields = {
        requestId,
        operation: prepared.operation.name?.value.slice(0, 100),
        clientId: token?.claims.clientId,
        code,
        durationMs: Math.round(durationMs),
        planningMs: Math.round(planningMs),
        document: documentWithoutValues(prepared.document),
        statements: ran.map(({ text, durationMs }) => ({
          durationMs: Math.round(durationMs),
          sql: sqlWithoutValues(text),
        })),
        ...(plan && { plan }),
      };
      log.warn(fields, hasFailed ? 'an operation failed' : 'an operation was slow');
    };
    report().catch((error: unknown) => log.error({ requestId, error }, 'the slow-query report failed'));
  };
}

/** The first reports show why all is slow; request log and metrics have the others. */
const maxPerMinute = 100;

/**
 * PostgreSQL's generic plan of a statement (`generic_plan`, since 16), as its caller's role.
 * The role's policies apply, and nothing is executed. Null if the plan was logged in the last minute, since slow statements repeat. Null,
 * too, while another is being explained or a request waits for a connection, and when PostgreSQL gives none.
 */
function createExplain(pool: Pool, log: Log) {
  let busy = false;

  return async (sql: string, settings: TransactionSettings): Promise<string[] | null> => {
    if (busy || pool.waitingCount > 0 || !isDue(log, hash('sha1', sql))) return null;
    busy = true;
    try {
      const text = `explain (generic_plan) ${sql}`;
      const { rows } = await queryOnce<{ 'QUERY PLAN': string }>(pool, settings, { text });
      return rows.map((row) => planWithoutValues(row['QUERY PLAN']));
    } catch {
      return null;
    } finally {
      busy = false;
    }
  };
}

/** The plan's own numbers, of costs and rows, stay. */
function planWithoutValues(line: string): string {
  const [, indentation = '', node = '', cost = ''] = /^(\s*)(.*?)(\s+\(cost=.*\))?$/.exec(line) ?? [];
  return indentation + sqlWithoutValues(node) + cost;
}

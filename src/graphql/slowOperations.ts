import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Log } from '../log.ts';
import type { TransactionSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import type { ErrorCode } from './errors.ts';
import type { Operation } from './execution.ts';
import type { RanStatement } from './statements.ts';
import { documentWithoutValues, sqlWithoutValues } from './withoutValues.ts';

export type SlowOperations = {
  pool: Pool;
  /** An operation that takes as long is slow. */
  slowMs: number;
  log: Log;
};

/** How an operation went. */
export type Course = {
  readonly durationMs: number;
  readonly planningMs: number;
  readonly code: string | undefined;
  /** Whether it waited for a database that is away. */
  readonly isAway: boolean;
  readonly ran: readonly RanStatement[];
  readonly settings: TransactionSettings | null;
};

/**
 * Logs what an operator needs to see of an operation that was slow or failed by a fault of ours: the document, its SQL, and
 * PostgreSQL's plan of the statement that took longest, all without values.
 */
export function createSlowOperations({ pool, slowMs, log }: SlowOperations) {
  const explain = createExplain(pool);
  const isOneMore = createBound();

  return (
    { prepared, token, requestId }: Operation,
    { durationMs, planningMs, code, isAway, ran, settings }: Course,
  ): void => {
    const hasFailed = code !== undefined && failures.has(code);
    if (isAway) return;
    if (durationMs < slowMs && !hasFailed) return;
    if (!isOneMore()) return;
    const report = async () => {
      const slowest = ran.toSorted((one, other) => other.durationMs - one.durationMs)[0];
      const plan = slowest && settings && (await explain(slowest.text, settings));
      const facts = {
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
      log.warn(facts, hasFailed ? 'an operation failed' : 'an operation was slow');
    };
    report().catch((error: unknown) => log.error({ requestId, error }, 'an operation could not be described'));
  };
}

const failures: ReadonlySet<string> = new Set<ErrorCode>(['INTERNAL', 'TIMEOUT']);

/** When everything is slow, the first few tell why; that there were more is in the lines about requests, and in the metrics. */
const mostInWindow = 20;
const windowMs = 10_000;

function createBound() {
  let endsAt = 0;
  let told = 0;
  return (): boolean => {
    if (performance.now() >= endsAt) {
      endsAt = performance.now() + windowMs;
      told = 0;
    }
    return ++told <= mostInWindow;
  };
}

const explainedForMs = 10 * 60_000;

/**
 * PostgreSQL's plan of a statement, whatever its parameters (`generic_plan`, since PostgreSQL 16), as its caller's role and policies
 * make it; nothing is executed. Null when it was told a short while ago, since what is slow comes often; when another is being
 * explained or somebody waits for a connection; or when PostgreSQL gives none.
 */
function createExplain(pool: Pool) {
  const explained = new LRUCache<string, true>({ max: 200, ttl: explainedForMs });
  let busy = false;

  return async (sql: string, settings: TransactionSettings): Promise<string[] | null> => {
    if (busy || pool.waitingCount > 0 || explained.has(sql)) return null;
    busy = true;
    explained.set(sql, true);
    try {
      const { rows } = await queryOnce<{ 'QUERY PLAN': string }>(pool, settings, {
        text: `explain (generic_plan) ${sql}`,
      });
      return rows.map((row) => planWithoutValues(row['QUERY PLAN']));
    } catch {
      return null;
    } finally {
      busy = false;
    }
  };
}

/** Its own numbers, of costs and rows, stay. */
function planWithoutValues(line: string): string {
  const [, indentation = '', node = '', cost = ''] = /^(\s*)(.*?)(\s+\(cost=.*\))?$/.exec(line) ?? [];
  return indentation + sqlWithoutValues(node) + cost;
}

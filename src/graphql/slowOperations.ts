import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import { type DocumentNode, Kind, print, visit } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { isDue } from '../observability/requestFields.ts';
import type { TransactionSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import type { Operation } from './operation.ts';
import type { RanStatement } from './statements.ts';

type SlowOperationsOptions = { readonly config: Pick<Config, 'slowMs'>; readonly pool: Pool; readonly log: Log };

/** Reports an operation that was executed, if it was slow or has failed. */
export type ReportSlowOperation = (operation: Operation, stats: OperationStats) => void;

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
export function createSlowOperations({ config: { slowMs }, pool, log }: SlowOperationsOptions): ReportSlowOperation {
  const explain = createExplain(pool, log);

  return ({ prepared, token, requestId }, { durationMs, planningMs, code, wasUnavailable, ran, settings }) => {
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

/** A readable length of a log line. */
export const maxCharacters = 4000;

/** Redaction: only the document's names, no literal, default, comment or client-chosen alias. */
export function documentWithoutValues(document: DocumentNode): string {
  const outline = visit(document, {
    Field: ({ alias: _alias, ...field }) => field,
    VariableDefinition: ({ defaultValue: _value, ...definition }) => definition,
    Argument: (argument) => ({ ...argument, value: argument.value.kind === Kind.VARIABLE ? argument.value : blank }),
  });
  return shortened(print(outline).replace(/\s+/g, ' '));
}

export const blank = { kind: Kind.ENUM, value: '_' } as const;

/** Redaction: SQL, or a plan of it, with `?` for each literal; parameters keep their numbers. */
export function sqlWithoutValues(sql: string): string {
  return shortened(
    sql
      .replace(tokens, (token, literal) => (literal === undefined ? token : '?'))
      .replace(/\s+/g, ' ')
      .trim(),
  );
}

/**
 * Names, parameters and parts of a plan, which stay; then literals: texts and numbers.
 * Dollar-quoted texts and a text without an end match, too.
 */
export const tokens =
  /"(?:[^"]|"")*"|\$\d+|\b(?:Init|Sub)Plan \d+|\b(?!e')[a-z_]\w*|(e?'(?:[^'\\]|''|\\.)*(?:'|$)|\$(\w*)\$[\s\S]*?(?:\$\2\$|$)|\d[\d.]*(?:e[+-]?\d+)?)/gi;

export const shortened = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text);

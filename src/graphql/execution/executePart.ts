import { GraphQLError, type GraphQLFormattedError } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../../plugins/constraintRules.ts';
import { isStalePlan } from '../../database/driver/isStalePlan.ts';
import { tracePast } from '../../observability/tracing/traced.ts';
import { isRetryableOnPrimary, ReplicaUnusableError } from '../../replica/queries.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import type { TransactionSettings } from '../../token/settings.ts';
import { presentError, rootOf } from '../errors.ts';
import { isTransient } from './answer.ts';
import { createContext } from './context.ts';
import { createEvaluator, type Evaluation } from './evaluate.ts';
import type { ExecutionOptions } from './executionOptions.ts';
import { isOutdated } from './isOutdated.ts';
import { isQueryOf, type Operation, type QueryTarget, type RanStatement } from './operation.ts';
import { lockTimeouts } from './operationSettings.ts';
import { createRowCounter } from './rows.ts';
import type { ShownSecret } from './shownSecrets.ts';
import { Statements } from './statements.ts';
import type { Transaction } from './transaction.ts';

/**
 * Executes a query, or one field of a mutation in its own transaction.
 * The field is committed unless a part of it has failed by a fault of ours. If a table has changed since a statement was prepared, or
 * while it waited for a migration, nothing has taken place, and the part is executed once more.
 */
export function createPartExecution({ config, pool, secrets, graph, log }: ExecutionOptions) {
  const rules = graph.schema.extensions.constraintRules as ConstraintRules;
  const { limits } = config;
  const evaluate = createEvaluator(graph, limits.bytes);

  const present = async (errors: readonly GraphQLError[], operation: Operation): Promise<Failed> => {
    const ended = errors.find(({ originalError }) => originalError instanceof InvalidTokenError);
    if (ended) throw ended.originalError;
    const { requestId } = operation;
    const outdated = errors.length > 0 && (await isOutdated(errors, pool, graph));
    const context = { requestId, operation, rules, log, isOutdated: outdated };
    const isStale = outdated || errors.some((error) => isStalePlan(rootOf(error)));
    return { presented: errors.map((error) => presentError(error, context)), errors, isStale };
  };

  const execute = async ({ key, requested }: Part, execution: Execution): Promise<Executed> => {
    const { transaction, settings } = execution;
    const { prepared, token, cost, signal } = requested;
    const statements = openStatements(requested, execution, () => evaluation.context.statementCount);
    const countRows = () => (cost.rows > limits.rows ? createRowCounter(limits.rows) : null);
    const { shownSecrets } = execution;
    const newContext = () => ({ shownSecrets, ...createContext(token?.claims ?? null, secrets, countRows(), config) });
    const evaluation: Evaluation = { settings, statements, newContext, context: {} };
    try {
      const result = await evaluate(requested, evaluation);
      const { planning } = evaluation.context;
      if (planning) tracePast('plan', planning.startedAt, planning.durationMs);
      execution.planningMs += planning?.durationMs ?? 0;
      // The client has disconnected. Errors of the cancelled statement are no failure.
      if (signal.aborted && !transaction && isQueryOf(prepared)) return { data: null, ...nothingFailed };
      if (execution.isReplicaUnusable) throw new ReplicaUnusableError();
      const { data, errors = [] } = result;
      const failed = await present(errors, requested);
      if (key === null) return { data, ...failed };
      if (isTransient(failed.presented)) return { data: nullAt(key), ...failed };
      try {
        await statements.keep();
      } catch (error) {
        const notCommitted = new GraphQLError('Not committed', { path: [key], originalError: error as Error });
        return { data: nullAt(key), ...(await present([notCommitted], requested)) };
      }
      return { data: data?.startsWith('{') ? data : nullAt(key), ...failed };
    } finally {
      await statements.end();
    }
  };

  return async (part: Part, execution: Execution): Promise<Executed> => {
    const executed = await execute(part, execution);
    return executed.isStale && !execution.transaction ? execute(part, execution) : executed;
  };
}

/** A unit of execution: a query, or a field of a mutation, whose key is in the answer. */
export type Part = { readonly key: string | null; readonly requested: Operation };

/** The state that the parts of an operation share, and add to. */
export type Execution = {
  readonly server: QueryTarget;
  readonly transaction: Transaction | null;
  readonly settings: TransactionSettings | null;
  readonly isReplica: boolean;
  readonly ran: RanStatement[];
  readonly shownSecrets: ShownSecret[];
  isReplicaUnusable: boolean;
  planningMs: number;
};

export type Executed = Failed & {
  /** JSON; for a field of a mutation an object with one member. */
  readonly data: string | null | undefined;
};

/** What has failed of a part. */
type Failed = {
  readonly presented: readonly GraphQLFormattedError[];
  readonly errors: readonly GraphQLError[];
  /** Whether the schema, or a prepared statement, is older than the database. */
  readonly isStale: boolean;
};

const nothingFailed: Failed = { presented: [], errors: [], isStale: false };

function openStatements(
  { prepared, token, signal }: Operation,
  execution: Execution,
  statementCount: () => number | undefined,
): Statements {
  const { server, transaction, ran, isReplica } = execution;
  const isQuery = isQueryOf(prepared);
  return new Statements(server, {
    token,
    // A mutation is never cancelled, since its client could not know whether it was committed.
    signal: isQuery ? signal : neverAborted,
    retryLockTimeout: lockTimeouts.retry,
    isQuery,
    statementCount,
    transaction,
    onRan: (statement) => ran.push(statement),
    onFailed: (error) => {
      execution.isReplicaUnusable ||= isReplica && isRetryableOnPrimary(error);
    },
  });
}

const neverAborted = new AbortController().signal;

/** The data of a field of a mutation that was not committed. */
export const nullAt = (key: string) => `{"${key}":null}`;

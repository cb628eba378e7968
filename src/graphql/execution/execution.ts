import type { Pool } from 'pg';
import { GraphQLError, type GraphQLFormattedError } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../../plugins/constraintRules.ts';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import { isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { traced, tracePast } from '../../observability/tracing/traced.ts';
import { isRetryableOnPrimary, ReplicaUnusableError, requireReplayed } from '../../replica/queries.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import type { Claims } from '../../token/claims.ts';
import { graphSettings, mutationSettings, type TransactionSettings } from '../../token/settings.ts';
import { DocumentError, type PreparedDocument } from '../document/document.ts';
import { limitExceeded } from '../document/measureOperations.ts';
import { type ErrorCode, errorCodes, presentError, rootOf } from '../errors.ts';
import type { Graph } from '../schema/schema.ts';
import type { Answer } from './answer.ts';
import { createContext } from './context.ts';
import { createEvaluator, type Evaluation } from './evaluate.ts';
import { executeOnce } from './idempotency.ts';
import { isOutdated } from './isOutdated.ts';
import { fieldsOf } from './mutationFields.ts';
import type { Operation, QueryTarget, RanStatement } from './operation.ts';
import { createRowCounter, hasMoreRows } from './rows.ts';
import { createSlowOperations } from './slowOperations.ts';
import { Statements } from './statements.ts';
import type { Transaction } from './transaction.ts';

export type ExecutionOptions = {
  config: Pick<Config, 'limits' | 'slowMs' | 'webhookPrivateAddresses'>;
  pool: Pool;
  /** The connections to the replica, if there is one. */
  replicaPool: Pool | null;
  secrets: Secrets;
  graph: Graph;
  log: Log;
};

/**
 * Executes operations: on a replica where read-your-writes allows it, else on the primary.
 * A failed field is part of the answer. Too many rows or bytes refuse a query ({@link DocumentError}). A field of a mutation is committed
 * once its answer is known, unless a part of it has failed by a fault of ours. A mutation's answer may have any number of rows; if it is
 * too long, it has only errors. Throws {@link InvalidTokenError}, too.
 */
export function createExecution({ config, pool, replicaPool, secrets, graph, log }: ExecutionOptions) {
  const rules = graph.schema.extensions.constraintRules as ConstraintRules;
  const { limits } = config;
  const evaluate = createEvaluator(graph, limits.bytes);
  const reportIfSlow = createSlowOperations({ pool, slowMs: config.slowMs, log });

  const settingsOf = ({ prepared, requestId }: Operation, claims: Claims) =>
    isQueryOf(prepared)
      ? graphSettings(claims, requestId, limits.rows)
      : mutationSettings(claims, requestId, limits.rows, lockTimeouts.first);

  /**
   * Executes a query, or one field of a mutation in its own transaction.
   * The field is committed unless a part of it has failed by a fault of ours.
   */
  const executePart = async ({ key, requested }: Part, execution: Execution): Promise<Executed> => {
    const { server, transaction, settings, ran, isReplica } = execution;
    const { prepared, token, requestId, cost, signal } = requested;
    const isQuery = isQueryOf(prepared);
    const statements = new Statements(server, {
      token,
      // A mutation is never cancelled, since its client could not know whether it was committed.
      signal: isQuery ? signal : neverAborted,
      retryLockTimeout: lockTimeouts.retry,
      isQuery,
      statementCount: () => evaluation.context.statementCount,
      transaction,
      onRan: (statement) => ran.push(statement),
      onFailed: (error) => {
        execution.isReplicaUnusable ||= isReplica && isRetryableOnPrimary(error);
      },
    });
    const newContext = () =>
      createContext(
        token?.claims ?? null,
        secrets,
        cost.rows > limits.rows ? createRowCounter(limits.rows) : null,
        config,
      );
    const evaluation: Evaluation = { settings, statements, newContext, context: {} };
    try {
      const result = await evaluate(requested, evaluation);
      const { planning } = evaluation.context;
      if (planning) tracePast('plan', planning.startedAt, planning.durationMs);
      execution.planningMs += planning?.durationMs ?? 0;
      // The client has disconnected. Errors of the cancelled statement are no failure.
      if (signal.aborted && !transaction && isQuery) return { data: null, presented: [], errors: [] };
      if (execution.isReplicaUnusable) throw new ReplicaUnusableError();
      const { data, errors = [] } = result;
      const presented = await present(errors, requestId);
      if (key === null) return { data, presented, errors };
      if (isTransient(presented)) return { data: nullAt(key), presented, errors };
      try {
        await statements.keep();
      } catch (error) {
        const failed = [new GraphQLError('Not committed', { path: [key], originalError: error as Error })];
        return { data: nullAt(key), presented: await present(failed, requestId), errors: failed };
      }
      return { data: data?.startsWith('{') ? data : nullAt(key), presented, errors };
    } finally {
      await statements.end();
    }
  };

  const present = async (errors: readonly GraphQLError[], requestId: RequestId) => {
    const ended = errors.find(({ originalError }) => originalError instanceof InvalidTokenError);
    if (ended) throw ended.originalError;
    const context = { requestId, rules, log, isOutdated: errors.length > 0 && (await isOutdated(errors, pool, graph)) };
    return errors.map((error) => presentError(error, context));
  };

  const run = async (requested: Operation, server: QueryTarget, transaction: Transaction | null): Promise<Answer> => {
    const { prepared, token, signal } = requested;
    const startedAt = performance.now();
    const isQuery = isQueryOf(prepared);
    const isReplica = server.pool === replicaPool;
    const settings = token && settingsOf(requested, token.claims);
    const execution: Execution = {
      ...{ server, transaction, settings, isReplica },
      ...{ ran: [], isReplicaUnusable: false, planningMs: 0 },
    };
    const parts = isQuery ? [{ key: null, requested }] : fieldsOf(requested);
    const executed: Executed[] = [];
    let length = 0;
    for (const part of parts) {
      const { data, ...failures } = await executePart(part, execution);
      // If an answer is too long, it has no data in the end.
      executed.push({ ...failures, data: length > limits.bytes && part.key !== null ? nullAt(part.key) : data });
      length += data?.length ?? 0;
    }
    if (signal.aborted && !transaction) return { status: errorCodes.UNAVAILABLE.status, body: '' };

    const { ran, planningMs } = execution;
    const presented = executed.flatMap((part) => part.presented);
    const code = presented.map(({ extensions }) => String(extensions?.code))[0];
    const wasUnavailable = executed.some(({ errors }) => errors.some((error) => isUnavailable(rootOf(error))));
    const durationMs = performance.now() - startedAt;
    reportIfSlow(requested, { durationMs, planningMs, code, wasUnavailable, ran, settings });

    const data = isQuery ? executed[0]?.data : toObject(executed);
    // Reading a rope flattens it (V8), so only the whole text is read.
    // After a fault of ours the operation's one transaction is rolled back, and with it the other fields.
    let body = toBody(transaction && isTransient(presented) ? 'null' : data, presented);
    if (isQuery && (hasLimit(presented, 'rows') || hasMoreRows(body, limits.rows)))
      throw new DocumentError([limitExceeded('rows', limits.rows)]);
    if (hasLimit(presented, 'bytes') || hasMoreBytes(body, limits.bytes)) {
      if (isQuery) throw new DocumentError([limitExceeded('bytes', limits.bytes)]);
      body = withoutData(presented, limits.bytes);
    }
    const isRetryable = presented.some(({ extensions }) => extensions?.code === 'UNAVAILABLE');
    const ofServer = replicaPool && isQuery ? { server: isReplica ? 'replica' : 'primary' } : {};
    const fields = { statements: ran.length, planningMs, ...ofServer, ...(code && { code }) };
    const status = isRetryable ? errorCodes.UNAVAILABLE.status : 200;
    return { status, body, isTransient: isTransient(presented), fields };
  };

  const runOnReplicaOrPrimary = async (requested: Operation): Promise<Answer> => {
    if (replicaPool && requested.replicaLsns) {
      try {
        return await run(requested, { pool: replicaPool, lsnCheck: requireReplayed(requested.replicaLsns) }, null);
      } catch (error) {
        if (!(error instanceof ReplicaUnusableError)) throw error;
      }
    }
    const primary = { pool, lsnCheck: null };
    const { idempotencyKey, token } = requested;
    if (!idempotencyKey || !token) return run(requested, primary, null);
    const { selections } = requested.prepared.operation.selectionSet;
    const isMany = selections.length > 1 || selections.some(({ kind }) => kind !== 'Field');
    const once = { idempotencyKey, token, settings: settingsOf(requested, token.claims), isMany };
    return executeOnce(pool, secrets, once, (transaction) => run(requested, primary, transaction));
  };

  return (requested: Operation): Promise<Answer> => traced('execute', () => runOnReplicaOrPrimary(requested));
}

/** A unit of execution: a query, or a field of a mutation, whose key is in the answer. */
type Part = { readonly key: string | null; readonly requested: Operation };

/** The state that the parts of an operation share, and add to. */
type Execution = {
  readonly server: QueryTarget;
  readonly transaction: Transaction | null;
  readonly settings: TransactionSettings | null;
  readonly isReplica: boolean;
  readonly ran: RanStatement[];
  isReplicaUnusable: boolean;
  planningMs: number;
};

type Executed = {
  /** JSON; for a field of a mutation an object with one member. */
  readonly data: string | null | undefined;
  readonly presented: readonly GraphQLFormattedError[];
  readonly errors: readonly GraphQLError[];
};

/** The data of a field of a mutation that was not committed. */
const nullAt = (key: string) => `{"${key}":null}`;

/** The data of all fields of a mutation, each of which is an object with one member. */
const toObject = (parts: readonly Executed[]) => `{${parts.map(({ data }) => data?.slice(1, -1)).join(',')}}`;

/**
 * Lock timeout of a mutation, two seconds with its retry; PostgreSQL's default is unlimited.
 * The first wait is longer than `deadlock_timeout`, so that PostgreSQL ends one of two mutations that wait for each other.
 */
const lockTimeouts = { first: '1200ms', retry: '800ms' };

const isQueryOf = ({ operation }: PreparedDocument) => operation.operation === 'query';

/** The codes of failures that are no fault of the operation. */
const transientCodes: ReadonlySet<unknown> = new Set<ErrorCode>(['INTERNAL', 'TIMEOUT', 'UNAVAILABLE']);

const isTransient = (errors: readonly GraphQLFormattedError[]) =>
  errors.some(({ extensions }) => transientCodes.has(extensions?.code));

const neverAborted = new AbortController().signal;

const hasLimit = (errors: readonly GraphQLFormattedError[], limit: 'rows' | 'bytes') =>
  errors.some(({ extensions }) => extensions?.limit === limit);

/** A UTF-16 code unit takes three bytes at most, so most answers need not be scanned. */
const hasMoreBytes = (body: string, max: number) => body.length * 3 > max && Buffer.byteLength(body) > max;

/** The answer to a committed mutation whose data has too many bytes: a note of that, and the failures. */
function withoutData(errors: readonly GraphQLFormattedError[], maxBytes: number): string {
  const { message, extensions } = limitExceeded('bytes', maxBytes);
  const tooLong = { message: `${message} What the mutation changed stays changed; select less of it.`, extensions };
  const others = errors.filter((error) => !hasLimit([error], 'bytes'));
  const body = toBody('null', [tooLong, ...others]);
  return hasMoreBytes(body, maxBytes) ? toBody('null', [tooLong]) : body;
}

export function toBody(data: string | null | undefined, errors: readonly GraphQLFormattedError[]): string {
  const hasErrors = errors.length > 0;
  const members = [data !== undefined && `"data":${data}`, hasErrors && `"errors":${JSON.stringify(errors)}`];
  return `{${members.filter(Boolean).join(',')}}`;
}

import type { Pool } from 'pg';
import type { GraphQLFormattedError } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../../plugins/constraintRules.ts';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import { isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { traced, tracePast } from '../../observability/tracing/traced.ts';
import { isRetryableOnPrimary, ReplicaUnusableError, requireReplayed } from '../../replica/queries.ts';
import { InvalidTokenError } from '../../token/accessTokens.ts';
import type { Claims } from '../../token/claims.ts';
import { graphSettings, mutationSettings } from '../../token/settings.ts';
import { DocumentError, type PreparedDocument } from '../document/document.ts';
import { limitExceeded } from '../document/measureOperations.ts';
import { type ErrorCode, errorCodes, presentError, rootOf } from '../errors.ts';
import type { Graph } from '../schema/schema.ts';
import type { Answer } from './answer.ts';
import { createContext } from './context.ts';
import { createEvaluator, type Evaluation } from './evaluate.ts';
import { executeOnce } from './idempotency.ts';
import { isOutdated } from './isOutdated.ts';
import type { Operation, QueryTarget, RanStatement } from './operation.ts';
import { createRowCounter, hasMoreRows } from './rows.ts';
import { createSlowOperations } from './slowOperations.ts';
import { createStatements } from './statements.ts';
import type { Transaction } from './transaction.ts';

export type ExecutionOptions = {
  config: Pick<Config, 'limits' | 'slowMs' | 'webhookPrivateAddresses'>;
  pool: Pool;
  /** Connections to the replica, if there is one. */
  replicaPool: Pool | null;
  secrets: Secrets;
  graph: Graph;
  log: Log;
};

/**
 * Executes operations: on a replica where read-your-writes allows it, else on the primary.
 * A failed field is part of the answer; too many rows or bytes refuse a query ({@link DocumentError}). A mutation is committed already, so
 * its answer has any number of rows, and one that is too long has only errors. Throws {@link InvalidTokenError}, too.
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

  const run = async (requested: Operation, server: QueryTarget, transaction: Transaction | null): Promise<Answer> => {
    const { prepared, token, requestId, cost, signal } = requested;
    const startedAt = performance.now();
    const claims = token?.claims ?? null;
    const isQuery = isQueryOf(prepared);
    const settings = claims && settingsOf(requested, claims);
    const ran: RanStatement[] = [];
    const isReplica = server.pool === replicaPool;
    let isReplicaUnusable = false;
    const statements = createStatements(server, {
      token,
      // A mutation is never cancelled: its client could not know whether it was committed.
      signal: isQuery ? signal : neverAborted,
      retryLockTimeout: lockTimeouts.retry,
      isQuery,
      inSnapshot: () => isQuery && evaluation.context.statementCount !== 1,
      transaction,
      onRan: (statement) => ran.push(statement),
      onFailed: (error) => {
        isReplicaUnusable ||= isReplica && isRetryableOnPrimary(error);
      },
    });
    const newContext = () =>
      createContext(claims, secrets, cost.rows > limits.rows ? createRowCounter(limits.rows) : null, config);
    const evaluation: Evaluation = { settings, statements, newContext, context: {} };
    const { data, errors } = await evaluate(requested, evaluation).finally(statements.end);

    // The client has gone, and what its cancellation broke is no failure.
    if (signal.aborted && !transaction) return { status: errorCodes.UNAVAILABLE.status, body: '' };
    if (isReplicaUnusable) throw new ReplicaUnusableError();
    const ended = errors?.find(({ originalError }) => originalError instanceof InvalidTokenError);
    if (ended) throw ended.originalError;

    const context = { requestId, rules, log, isOutdated: !!errors && (await isOutdated(errors, pool, graph)) };
    const presented = errors?.map((error) => presentError(error, context));
    const { planning } = evaluation.context;
    if (planning) tracePast('plan', planning.startedAt, planning.durationMs);
    const planningMs = planning?.durationMs ?? 0;
    const code = presented?.map(({ extensions }) => String(extensions?.code))[0];
    const wasUnavailable = errors?.some((error) => isUnavailable(rootOf(error))) ?? false;
    const durationMs = performance.now() - startedAt;
    reportIfSlow(requested, { durationMs, planningMs, code, wasUnavailable, ran, settings });

    // Reading a rope flattens it (V8), so only the whole text is read.
    const isTransient = presented?.some(({ extensions }) => transientCodes.has(extensions?.code)) ?? false;
    // What its other fields tell is not done either.
    let body = toBody(transaction && isTransient ? 'null' : data, presented);
    if (isQuery && (hasLimit(presented, 'rows') || hasMoreRows(body, limits.rows)))
      throw new DocumentError([limitExceeded('rows', limits.rows)]);
    if (hasLimit(presented, 'bytes') || hasMoreBytes(body, limits.bytes)) {
      if (isQuery) throw new DocumentError([limitExceeded('bytes', limits.bytes)]);
      body = withoutData(presented, limits.bytes);
    }
    const isRetryable = presented?.some(({ extensions }) => extensions?.code === 'UNAVAILABLE');
    const ofServer = replicaPool && isQuery ? { server: isReplica ? 'replica' : 'primary' } : {};
    const fields = { statements: ran.length, planningMs, ...ofServer, ...(code && { code }) };
    return { status: isRetryable ? errorCodes.UNAVAILABLE.status : 200, body, isTransient, fields };
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

/**
 * Lock timeout of a mutation, two seconds with its retry; PostgreSQL's default is without end.
 * The first wait is longer than `deadlock_timeout`, so that of two that wait for each other one goes on.
 */
const lockTimeouts = { first: '1200ms', retry: '800ms' };

const isQueryOf = ({ operation }: PreparedDocument) => operation.operation === 'query';

/** The codes of failures that are no fault of the operation. */
const transientCodes: ReadonlySet<unknown> = new Set<ErrorCode>(['INTERNAL', 'TIMEOUT', 'UNAVAILABLE']);

const neverAborted = new AbortController().signal;

const hasLimit = (errors: readonly GraphQLFormattedError[] | undefined, limit: 'rows' | 'bytes') =>
  errors?.some(({ extensions }) => extensions?.limit === limit) ?? false;

/** A UTF-16 code unit takes three bytes at most; so most answers need not be scanned. */
const hasMoreBytes = (body: string, max: number) => body.length * 3 > max && Buffer.byteLength(body) > max;

/** The answer to a mutation that would have too many bytes: that it was committed, and what failed. */
function withoutData(errors: readonly GraphQLFormattedError[] = [], maxBytes: number): string {
  const { message, extensions } = limitExceeded('bytes', maxBytes);
  const tooLong = { message: `${message} What the mutation changed stays changed; select less of it.`, extensions };
  const others = errors.filter((error) => !hasLimit([error], 'bytes'));
  const body = toBody('null', [tooLong, ...others]);
  return hasMoreBytes(body, maxBytes) ? toBody('null', [tooLong]) : body;
}

/** The text of an answer. */
export function toBody(data: string | null | undefined, errors: readonly GraphQLFormattedError[] | undefined): string {
  const members = [data !== undefined && `"data":${data}`, errors && `"errors":${JSON.stringify(errors)}`];
  return `{${members.filter(Boolean).join(',')}}`;
}

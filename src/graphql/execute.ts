import { type CompiledOperation, executeCompiled, type OperationResult, TooLongError } from 'grafast-compile';
import { DatabaseError, type Pool } from 'pg';
import { execute, hookArgs } from 'postgraphile/grafast';
import { GraphQLError, type GraphQLFormattedError, type OperationDefinitionNode } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../plugins/constraintRules.ts';
import { countStatements } from '../../plugins/StatementCountPlugin.ts';
import type { Config } from '../config.ts';
import type { Secrets } from '../crypto/secrets.ts';
import { isStalePlan } from '../database/driver/driver.ts';
import { readMigrations } from '../database/migrations/watchMigrations.ts';
import { isUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { traced, tracePast } from '../observability/tracing/traced.ts';
import { isRetryableOnPrimary, ReplicaUnusableError, requireReplayed } from '../replica/watchReplica.ts';
import { inTurn } from '../scheduling/turns.ts';
import { InvalidTokenError } from '../token/accessTokens.ts';
import { type Claims, graphSettings, mutationSettings, type TransactionSettings } from '../token/settings.ts';
import { problemOfUrl } from '../webhooks/addresses.ts';
import { type Answer, createRowCounter, isTransient, type ShownSecret, toLimitedBody } from './answer.ts';
import type { PreparedDocument } from './document/document.ts';
import { limitExceeded } from './document/documentError.ts';
import { planningMs } from './document/measureOperations.ts';
import { errorCodes, presentError, rootOf } from './errors.ts';
import { executeOnce } from './idempotency.ts';
import { fieldsOf, isQueryOf, type Operation } from './operation.ts';
import type { Graph } from './schema/schema.ts';
import { createSlowOperations } from './slowOperations.ts';
import { type QueryTarget, type RanStatement, Statements, type Transaction } from './statements.ts';

/** Executes an operation on one server: a query as a whole, a mutation field by field. */
function createServerExecution(options: ExecutionOptions) {
  const { config, pool, replicaPool, log } = options;
  const { limits } = config;
  const executePart = createPartExecution(options);
  const reportIfSlow = createSlowOperations({ pool, slowMs: config.slowMs, log });

  return async (requested: Operation, server: QueryTarget, transaction: Transaction | null): Promise<Answer> => {
    const { prepared, token, signal } = requested;
    const startedAt = performance.now();
    const isQuery = isQueryOf(prepared);
    const isReplica = server.pool === replicaPool;
    const settings = token && settingsOf(requested, token.claims, limits.rows);
    const execution: Execution = {
      ...{ server, transaction, settings, isReplica },
      ...{ ran: [], shownSecrets: [], isReplicaUnusable: false, planningMs: 0 },
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

    const { ran, shownSecrets, planningMs } = execution;
    const presented = executed.flatMap((part) => part.presented);
    const code = presented.map(({ extensions }) => String(extensions?.code))[0];
    const wasUnavailable = executed.some(({ errors }) => errors.some((error) => isUnavailable(rootOf(error))));
    const durationMs = performance.now() - startedAt;
    reportIfSlow(requested, { durationMs, planningMs, code, wasUnavailable, ran, settings });

    const data = isQuery ? executed[0]?.data : toObject(executed);
    // After a fault of ours the operation's one transaction is rolled back, and with it the other fields.
    const isUndone = transaction !== null && isTransient(presented);
    const body = toLimitedBody(isUndone ? 'null' : data, presented, isQuery, limits);
    const isRetryable = presented.some(({ extensions }) => extensions?.code === 'UNAVAILABLE');
    const ofServer = replicaPool && isQuery ? { server: isReplica ? 'replica' : 'primary' } : {};
    const fields = { statements: ran.length, planningMs, ...ofServer, ...(code && { code }) };
    const status = isRetryable ? errorCodes.UNAVAILABLE.status : 200;
    return { status, body, isTransient: isTransient(presented), shownSecrets, fields };
  };
}

/** The data of all fields of a mutation, each of which is an object with one member. */
const toObject = (parts: readonly Executed[]) => `{${parts.map(({ data }) => data?.slice(1, -1)).join(',')}}`;

/**
 * Executes a query, or one field of a mutation in its own transaction.
 * The field is committed unless a part of it has failed by a fault of ours. If a table has changed since a statement was prepared, or
 * while it waited for a migration, nothing has taken place, and the part is executed once more.
 */
function createPartExecution({ config, pool, secrets, graph, log }: ExecutionOptions) {
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
type Part = { readonly key: string | null; readonly requested: Operation };

/** The state that the parts of an operation share, and add to. */
type Execution = {
  readonly server: QueryTarget;
  readonly transaction: Transaction | null;
  readonly settings: TransactionSettings | null;
  readonly isReplica: boolean;
  readonly ran: RanStatement[];
  readonly shownSecrets: ShownSecret[];
  isReplicaUnusable: boolean;
  planningMs: number;
};

type Executed = Failed & {
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
const nullAt = (key: string) => `{"${key}":null}`;

type Evaluation = {
  /** Null without claims, and then without statements. */
  readonly settings: TransactionSettings | null;
  readonly statements: Statements;
  readonly newContext: () => Partial<Grafast.Context>;
  /** The context of the present run, to which plans add what they know. */
  context: Partial<Grafast.Context>;
};

/**
 * Evaluates operations: compiled if they have been planned before, otherwise by Grafast.
 * If a compiled run fails, its changes are undone, and Grafast executes the whole operation anew.
 */
function createEvaluator({ resolvedPreset }: Graph, maxBytes: number) {
  const runGrafast = async (
    { prepared, variables }: Operation,
    evaluation: Evaluation,
    added: Partial<Grafast.Context>,
  ) => {
    const { settings, statements, newContext } = evaluation;
    const { document, operation, schema } = prepared;
    const args = await hookArgs({
      schema,
      resolvedPreset,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: { ...newContext(), ...added },
      outputDataAsString: true,
      requestContext: settings ? { pgSettings: settings } : {},
    });
    const context = args.contextValue as Grafast.Context;
    // Its clients have all but the driver's own, which no plan uses.
    context.withPgClient = statements.withPgClient as Grafast.Context['withPgClient'];
    evaluation.context = context;
    // There is no @defer, @stream or subscription in the schema, by which the result would be an iterator.
    return (await planInTurn(prepared, () => execute(args))) as OperationResult;
  };

  const evaluate = (requested: Operation, evaluation: Evaluation): Promise<OperationResult> => {
    const { operation, schema } = requested.prepared;
    const { settings, statements, context } = evaluation;
    if (!settings) return runGrafast(requested, evaluation, {});
    return executeCompiled({
      schema,
      operation,
      variables: requested.coerced,
      context,
      runGrafast: (added) => runGrafast(requested, evaluation, added),
      runCompiled: (compiled) => runCompiled(compiled, requested, evaluation, settings),
      async undo(error) {
        // If the token was revoked, that is the outcome, and nothing is executed again.
        if (error instanceof InvalidTokenError) throw error;
        await statements.again();
      },
    });
  };

  const toRefusal = (error: GraphQLError) =>
    error.originalError instanceof TooLongError ? limitExceeded('bytes', maxBytes) : error;

  return async (requested: Operation, evaluation: Evaluation): Promise<OperationResult> => {
    const result = await evaluate(requested, evaluation);
    return result.errors ? { ...result, errors: result.errors.map(toRefusal) } : result;
  };
}

function runCompiled(
  { plan, run }: CompiledOperation,
  { coerced }: Operation,
  evaluation: Evaluation,
  settings: TransactionSettings,
) {
  const { statements, newContext } = evaluation;
  const { planning } = evaluation.context;
  const withPgClient = statements.withPgClientBeside as Grafast.Context['withPgClient'];
  const context = {
    ...newContext(),
    pgSettings: settings,
    withPgClient,
    statementCount: countStatements(plan),
    ...(planning && { planning }),
  };
  evaluation.context = context;
  return run(coerced, context, (statement) => statements.query(settings, statement));
}

/**
 * Executes operations: on a replica where read-your-writes allows it, else on the primary.
 * A failed field is part of the answer. Too many rows or bytes refuse a query ({@link DocumentError}). A field of a mutation is committed
 * once its answer is known, unless a part of it has failed by a fault of ours. A mutation's answer may have any number of rows; if it is
 * too long, it has only errors. Throws {@link InvalidTokenError}, too.
 */
export function createExecution(options: ExecutionOptions) {
  const { config, pool, replicaPool, secrets } = options;
  const executeOnServer = createServerExecution(options);

  const runOnReplicaOrPrimary = async (requested: Operation): Promise<Answer> => {
    if (replicaPool && requested.replicaLsns) {
      try {
        const replica = { pool: replicaPool, lsnCheck: requireReplayed(requested.replicaLsns) };
        return await executeOnServer(requested, replica, null);
      } catch (error) {
        if (!(error instanceof ReplicaUnusableError)) throw error;
      }
    }
    const primary = { pool, lsnCheck: null };
    const { idempotencyKey, token } = requested;
    if (!idempotencyKey || !token) return executeOnServer(requested, primary, null);
    const { selections } = requested.prepared.operation.selectionSet;
    const isMany = selections.length > 1 || selections.some(({ kind }) => kind !== 'Field');
    const once = { idempotencyKey, token, settings: settingsOf(requested, token.claims, config.limits.rows), isMany };
    return executeOnce(pool, secrets, once, (transaction) => executeOnServer(requested, primary, transaction));
  };

  return (requested: Operation): Promise<Answer> => traced('execute', () => runOnReplicaOrPrimary(requested));
}

export type ExecutionOptions = {
  config: Pick<Config, 'limits' | 'slowMs' | 'webhookPrivateAddresses'>;
  pool: Pool;
  /** The connections to the replica, if there is one. */
  replicaPool: Pool | null;
  secrets: Secrets;
  graph: Graph;
  log: Log;
};

/** The context of plans, all from the verified token; public introspection has no claims. */
export function createContext(
  claims: Claims | null,
  secrets: Secrets,
  countRows: Grafast.Context['countRows'],
  { webhookPrivateAddresses }: Pick<Config, 'webhookPrivateAddresses'>,
): Partial<Grafast.Context> {
  return {
    countRows,
    scopes: claims?.scopes ?? [],
    organizationId: claims?.organizationId ?? '',
    cursorChecksum: secrets.cursorChecksum,
    cursorChecksums: secrets.cursorChecksums,
    sealWebhookSecret: secrets.sealWebhookSecret,
    openWebhookSecret: secrets.openWebhookSecret,
    problemOfWebhookUrl: (url) => problemOfUrl(url, webhookPrivateAddresses),
    openExternalAuthenticationToken: secrets.open,
    sealExternalAuthenticationToken(token, owner) {
      const [, previousHash] = secrets.lookupHashes(token, owner.organizationId);
      const hash = secrets.lookupHash(token, owner.organizationId);
      return { ciphertext: secrets.seal(token, owner), hash, previousHash };
    },
  };
}

/**
 * Optimistic concurrency with migrations: whether one has made the schema of a failed statement stale.
 * The statement was right when the schema was built, and the next one is being built. Called only after errors that may have this cause.
 */
async function isOutdated(errors: readonly GraphQLError[], pool: Pool, { migrations }: Graph): Promise<boolean> {
  if (!errors.some(mayBeOfMigration)) return false;
  return readMigrations(pool).then(
    (found) => found !== migrations,
    // The readiness watch logs outages.
    () => false,
  );
}

function mayBeOfMigration(error: GraphQLError): boolean {
  const root = rootOf(error);
  return root instanceof DatabaseError && codes.test(root.code ?? '');
}

/**
 * SQLSTATEs that a migration may have caused.
 * Class 42: a named object is missing or has another type. 0A000: a prepared statement would have other columns. 3F000: a schema is
 * missing. XX000: a function was dropped while PostgreSQL looked it up.
 */
const codes = /^(42(?!501)...|0A000|3F000|XX000)$/;

const planned = new WeakSet<OperationDefinitionNode>();

/**
 * Does what begins by planning an operation: in its turn, unless this thread has planned the operation before.
 * Planning blocks the thread for 2 to 20 ms.
 */
export async function planInTurn<T>({ operation, size }: PreparedDocument, execute: () => T): Promise<T> {
  if (planned.has(operation)) return execute();
  return inTurn(planningMs(size), () => {
    planned.add(operation);
    return execute();
  });
}

/** The settings of the transactions of an operation. */
const settingsOf = ({ prepared, requestId }: Operation, claims: Claims, maxRows: number): TransactionSettings =>
  isQueryOf(prepared)
    ? graphSettings(claims, requestId, maxRows)
    : mutationSettings(claims, requestId, maxRows, lockTimeouts.first);

/**
 * Lock timeout of a mutation, two seconds with its retry; PostgreSQL's default is unlimited.
 * The first wait is longer than `deadlock_timeout`, so that PostgreSQL ends one of two mutations that wait for each other.
 */
const lockTimeouts = { first: '1200ms', retry: '800ms' };

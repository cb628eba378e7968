import {
  type CompiledOperation,
  executeCompiled,
  type OperationRequest,
  type OperationResult,
  TooLongError,
} from 'grafast-compile';
import { DatabaseError, type Pool } from 'pg';
import { execute, hookArgs } from 'postgraphile/grafast';
import {
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'postgraphile/graphql';
import { countStatements } from '../../plugins/StatementCountPlugin.ts';
import type { Config } from '../config.ts';
import type { Secrets } from '../crypto/secrets.ts';
import { isStalePlan } from '../database/driver/driver.ts';
import { readMigrations } from '../database/migrations/watchMigrations.ts';
import { isUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { traced, tracePast } from '../observability/traced.ts';
import { isRetryableOnPrimary, ReplicaUnusableError, requireReplayed } from '../replica/watchReplica.ts';
import { inTurn } from '../scheduling/turns.ts';
import { type AccessToken, InvalidTokenError } from '../token/accessTokens.ts';
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
import { createSlowOperations, type ReportSlowOperation } from './slowOperations.ts';
import {
  type QueryTarget,
  type RanStatement,
  Statements,
  type StatementsOptions,
  type Transaction,
} from './statements.ts';

/**
 * Executes operations: on a replica where read-your-writes allows it, else on the primary.
 *
 *     Execution, of an operation on one server → Attempt, at a query or one field of a mutation → Statements
 *
 * A failed field is part of the answer. Too many rows or bytes refuse a query ({@link DocumentError}). A field of a mutation is committed
 * once its answer is known, unless a part of it has failed by a fault of ours. A mutation's answer may have any number of rows; if it is
 * too long, it has only errors. Throws {@link InvalidTokenError}, too.
 */
export function createExecution(options: ExecutionOptions): (operation: Operation) => Promise<Answer> {
  const executor = { ...options, reportIfSlow: createSlowOperations(options) };
  return (operation) => traced('execute', () => executeOnReplicaOrPrimary(operation, executor));
}

async function executeOnReplicaOrPrimary(operation: Operation, executor: Executor): Promise<Answer> {
  const { pool, replicaPool, secrets } = executor;
  if (replicaPool && operation.replicaLsns) {
    try {
      const replica = { pool: replicaPool, lsnCheck: requireReplayed(operation.replicaLsns) };
      return await new Execution(operation, executor, replica).answer();
    } catch (error) {
      if (!(error instanceof ReplicaUnusableError)) throw error;
    }
  }
  const primary = { pool, lsnCheck: null };
  const { idempotencyKey, token, prepared } = operation;
  if (!idempotencyKey || !token) return new Execution(operation, executor, primary).answer();
  const { selections } = prepared.operation.selectionSet;
  const isMany = selections.length > 1 || selections.some(({ kind }) => kind !== 'Field');
  const once = { idempotencyKey, token, settings: settingsOf(operation, token.claims, executor), isMany };
  return executeOnce(pool, secrets, once, (transaction) =>
    new Execution(operation, executor, primary, transaction).answer(),
  );
}

/** What executes the operations of one schema. */
type Executor = ExecutionOptions & { readonly reportIfSlow: ReportSlowOperation };

/** The execution of an operation on one server: of a query as a whole, of a mutation field by field. */
class Execution {
  readonly operation: Operation;
  readonly executor: Executor;
  readonly server: QueryTarget;
  /** In which all fields are executed; null when each has its own. */
  readonly transaction: Transaction | null;
  /** Null without a token, and then without statements. */
  readonly settings: TransactionSettings | null;

  // What the attempts add.
  readonly ran: RanStatement[] = [];
  readonly shownSecrets: ShownSecret[] = [];
  planningMs = 0;
  isReplicaUnusable = false;

  constructor(operation: Operation, executor: Executor, server: QueryTarget, transaction: Transaction | null = null) {
    const { token } = operation;
    this.operation = operation;
    this.executor = executor;
    this.server = server;
    this.transaction = transaction;
    this.settings = token && settingsOf(operation, token.claims, executor);
  }

  get isOnReplica(): boolean {
    return this.server.pool === this.executor.replicaPool;
  }

  async answer(): Promise<Answer> {
    const { operation, transaction } = this;
    const { limits } = this.executor.config;
    const startedAt = performance.now();
    const isQuery = isQueryOf(operation.prepared);
    const fields = isQuery ? [{ key: null, requested: operation }] : fieldsOf(operation);
    const results: Result[] = [];
    let length = 0;
    for (const { key, requested } of fields) {
      const result = await this.#execute(key, requested);
      // If an answer is too long, it has no data in the end.
      results.push(length > limits.bytes && key !== null ? { ...result, data: nullAt(key) } : result);
      length += result.data?.length ?? 0;
    }
    if (operation.signal.aborted && !transaction) return { status: errorCodes.UNAVAILABLE.status, body: '' };

    const presented = results.flatMap((result) => result.presented);
    this.#report(results, presented, performance.now() - startedAt);
    const data = isQuery ? results[0]?.data : toObject(results);
    // After a fault of ours the operation's one transaction is rolled back, and with it the other fields.
    const isUndone = transaction !== null && isTransient(presented);
    const body = toLimitedBody(isUndone ? 'null' : data, presented, isQuery, limits);
    return this.#toAnswer(body, presented);
  }

  /**
   * Executes a query, or one field of a mutation in its own transaction.
   * If a table has changed since a statement was prepared, or while it waited for a migration, nothing has taken place, and it is executed
   * once more.
   */
  async #execute(key: string | null, requested: Operation): Promise<Result> {
    const result = await new Attempt(key, requested, this).run();
    return result.isStale && !this.transaction ? new Attempt(key, requested, this).run() : result;
  }

  #report(results: readonly Result[], presented: readonly GraphQLFormattedError[], durationMs: number): void {
    const { operation, settings, ran, planningMs } = this;
    const wasUnavailable = results.some(({ errors }) => errors.some((error) => isUnavailable(rootOf(error))));
    this.executor.reportIfSlow(operation, {
      durationMs,
      planningMs,
      code: codeOf(presented),
      wasUnavailable,
      ran,
      settings,
    });
  }

  #toAnswer(body: string, presented: readonly GraphQLFormattedError[]): Answer {
    const { operation, executor, isOnReplica, ran, planningMs, shownSecrets } = this;
    const code = codeOf(presented);
    const hasReplica = executor.replicaPool && isQueryOf(operation.prepared);
    const server = hasReplica ? { server: isOnReplica ? 'replica' : 'primary' } : {};
    const fields = { statements: ran.length, planningMs, ...server, ...(code && { code }) };
    const isUnavailable = presented.some(({ extensions }) => extensions?.code === 'UNAVAILABLE');
    const status = isUnavailable ? errorCodes.UNAVAILABLE.status : 200;
    return { status, body, isTransient: isTransient(presented), shownSecrets, fields };
  }
}

const codeOf = ([error]: readonly GraphQLFormattedError[]) => error && String(error.extensions?.code);

/** The data of all fields of a mutation, each of which is an object with one member. */
const toObject = (results: readonly Result[]) => `{${results.map(({ data }) => data?.slice(1, -1)).join(',')}}`;

/** The data of a field of a mutation that was not committed. */
const nullAt = (key: string) => `{"${key}":null}`;

/** The result of a query, or of one field of a mutation. */
type Result = Failures & {
  /** JSON; for a field of a mutation an object with one member. */
  readonly data: string | null | undefined;
};

type Failures = {
  readonly presented: readonly GraphQLFormattedError[];
  readonly errors: readonly GraphQLError[];
  /** Whether the schema, or a prepared statement, is older than the database. */
  readonly isStale: boolean;
};

const nothingFailed: Failures = { presented: [], errors: [], isStale: false };

/**
 * One attempt at a query, or at one field of a mutation: compiled if it has been planned before, otherwise by Grafast.
 * If the compiled run fails, its changes are undone, and Grafast executes all of it anew. A mutation's field is committed unless a part of
 * it has failed by a fault of ours.
 */
class Attempt implements OperationRequest, StatementsOptions {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly variables: Operation['coerced'];
  readonly token: AccessToken | null;
  readonly signal: AbortSignal;
  readonly isQuery: boolean;
  readonly transaction: Transaction | null;
  readonly retryLockTimeout = lockTimeouts.retry;
  /** The context of the present run, to which plans add what they know. */
  context: Partial<Grafast.Context> = {};

  readonly #key: string | null;
  readonly #requested: Operation;
  readonly #execution: Execution;
  readonly #statements: Statements;

  /** @param key of a mutation's field in the answer; null for a query */
  constructor(key: string | null, requested: Operation, execution: Execution) {
    const { prepared, coerced, token, signal } = requested;
    this.schema = prepared.schema;
    this.operation = prepared.operation;
    this.variables = coerced;
    this.token = token;
    this.isQuery = key === null;
    // A mutation is never cancelled, since its client could not know whether it was committed.
    this.signal = this.isQuery ? signal : neverAborted;
    this.transaction = execution.transaction;
    this.#key = key;
    this.#requested = requested;
    this.#execution = execution;
    this.#statements = new Statements(execution.server, this);
  }

  async run(): Promise<Result> {
    try {
      const { data, errors } = await (this.#execution.settings ? executeCompiled(this) : this.runGrafast({}));
      const { planning } = this.context;
      if (planning) tracePast('plan', planning.startedAt, planning.durationMs);
      this.#execution.planningMs += planning?.durationMs ?? 0;
      // The client has disconnected. Errors of the cancelled statement are no failure.
      if (this.isQuery && this.signal.aborted) return { data: null, ...nothingFailed };
      if (this.#execution.isReplicaUnusable) throw new ReplicaUnusableError();
      const failures = errors ? await this.#present(errors) : nothingFailed;
      return this.#key === null ? { data, ...failures } : await this.#commit(this.#key, data, failures);
    } finally {
      await this.#statements.close();
    }
  }

  /** Commits a mutation's field. */
  async #commit(key: string, data: Result['data'], failures: Failures): Promise<Result> {
    if (isTransient(failures.presented)) return { data: nullAt(key), ...failures };
    try {
      await this.#statements.commit();
    } catch (error) {
      const notCommitted = new GraphQLError('Not committed', { path: [key], originalError: error as Error });
      return { data: nullAt(key), ...(await this.#present([notCommitted])) };
    }
    return { data: data?.startsWith('{') ? data : nullAt(key), ...failures };
  }

  async #present(found: readonly GraphQLError[]): Promise<Failures> {
    const ended = found.find(({ originalError }) => originalError instanceof InvalidTokenError);
    if (ended) throw ended.originalError;
    const { config, pool, graph, log } = this.#execution.executor;
    const tooLong = limitExceeded('bytes', config.limits.bytes);
    const errors = found.map((error) => (error.originalError instanceof TooLongError ? tooLong : error));
    const { requestId } = this.#requested;
    const isOutdated = await isSchemaOutdated(errors, pool, graph);
    const rules = graph.schema.extensions.constraintRules;
    const context = { requestId, operation: this.#requested, rules, log, isOutdated };
    const isStale = isOutdated || errors.some((error) => isStalePlan(rootOf(error)));
    return { presented: errors.map((error) => presentError(error, context)), errors, isStale };
  }

  async runGrafast(added: Partial<Grafast.Context>): Promise<OperationResult> {
    const { executor, settings } = this.#execution;
    const context = Object.assign(this.#createContext(), added);
    const withPgClient = this.#statements.clientFor('Grafast');
    const args = await toGrafastArgs(this.#requested, executor.graph, context, settings, withPgClient);
    this.context = args.contextValue as Grafast.Context;
    // There is no @defer, @stream or subscription in the schema, by which the result would be an iterator.
    return (await planInTurn(this.#requested.prepared, () => execute(args))) as OperationResult;
  }

  runCompiled({ plan, run }: CompiledOperation): Promise<string> {
    const settings = this.#execution.settings as TransactionSettings;
    const { planning } = this.context;
    const context = this.#createContext();
    context.pgSettings = settings;
    context.withPgClient = this.#statements.clientFor('side query');
    context.statementCount = countStatements(plan);
    if (planning) context.planning = planning;
    this.context = context;
    return run(this.variables, context, (statement) => this.#statements.query(settings, statement));
  }

  async undo(error: unknown): Promise<void> {
    // If the token was revoked, that is the outcome, and nothing is executed again.
    if (error instanceof InvalidTokenError) throw error;
    await this.#statements.undo();
  }

  #createContext(): Partial<Grafast.Context> {
    const { executor, shownSecrets } = this.#execution;
    const { config, secrets } = executor;
    const { token, cost } = this.#requested;
    const countRows = cost.rows > config.limits.rows ? createRowCounter(config.limits.rows) : null;
    const context = createContext(token?.claims ?? null, secrets, countRows, config);
    context.shownSecrets = shownSecrets;
    return context;
  }

  statementCount(): number | undefined {
    return this.context.statementCount;
  }

  onRan(statement: RanStatement): void {
    this.#execution.ran.push(statement);
  }

  onFailed(error: unknown): void {
    this.#execution.isReplicaUnusable ||= this.#execution.isOnReplica && isRetryableOnPrimary(error);
  }
}

const neverAborted = new AbortController().signal;

/** The arguments for Grafast, which runs statements by `withPgClient`. */
export async function toGrafastArgs(
  { prepared, variables }: Operation,
  { resolvedPreset }: Graph,
  contextValue: Partial<Grafast.Context>,
  settings: TransactionSettings | null,
  withPgClient: Grafast.Context['withPgClient'],
) {
  const args = await hookArgs({
    schema: prepared.schema,
    resolvedPreset,
    document: prepared.document,
    operationName: prepared.operation.name?.value,
    variableValues: variables,
    contextValue,
    outputDataAsString: true,
    requestContext: settings ? { pgSettings: settings } : {},
  });
  (args.contextValue as Grafast.Context).withPgClient = withPgClient;
  return args;
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
async function isSchemaOutdated(errors: readonly GraphQLError[], pool: Pool, { migrations }: Graph): Promise<boolean> {
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
 * Planning blocks the thread.
 */
export async function planInTurn<T>({ operation, size }: PreparedDocument, execute: () => T): Promise<T> {
  if (planned.has(operation)) return execute();
  return inTurn(planningMs(size), () => {
    planned.add(operation);
    return execute();
  });
}

/** The settings of the transactions of an operation. */
const settingsOf = (
  { prepared, requestId }: Operation,
  claims: Claims,
  { config: { limits } }: Executor,
): TransactionSettings =>
  isQueryOf(prepared)
    ? graphSettings(claims, requestId, limits.rows)
    : mutationSettings(claims, requestId, limits.rows, lockTimeouts.first);

/**
 * Lock timeout of a mutation, two seconds with its retry; PostgreSQL's default is unlimited.
 * The first wait is longer than `deadlock_timeout`, so that PostgreSQL ends one of two mutations that wait for each other.
 */
const lockTimeouts = { first: '1200ms', retry: '800ms' };

import type { Pool } from 'pg';
import type { WithPgClient } from 'postgraphile/@dataplan/pg';
import { execute, hookArgs } from 'postgraphile/grafast';
import type { ExecutionResult, GraphQLFormattedError } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../plugins/constraintRules.ts';
import type { Config } from '../config.ts';
import { isUnavailable } from '../database/unavailable.ts';
import type { RequestFacts, RequestId } from '../http/facts.ts';
import type { Log } from '../log.ts';
import type { Secrets } from '../secrets.ts';
import { type AccessToken, InvalidTokenError } from '../token/accessTokens.ts';
import { graphSettings, mutationSettings } from '../token/settings.ts';
import { traced, tracePast } from '../tracing/traced.ts';
import type { Most } from './arguments.ts';
import { createContext } from './context.ts';
import { DocumentRefused, type PreparedDocument } from './document.ts';
import { errorCodes, presentError, rootOf } from './errors.ts';
import { isOutdated } from './isOutdated.ts';
import { limitExceeded } from './limits.ts';
import { mayDiffer, ReplicaUnfit, type RequiredLsns, requireReplayed } from './replicaQueries.ts';
import { createRowCounter, hasMoreRows } from './rows.ts';
import type { Graph } from './schema.ts';
import { createSlowOperations } from './slowOperations.ts';
import { createStatements, type RanStatement, type Server } from './statements.ts';

/** An operation whose document, variables and arguments are in order. */
export type Operation = {
  readonly prepared: PreparedDocument;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Null under public introspection only. */
  readonly token: AccessToken | null;
  readonly requestId: RequestId;
  /** What its answer has if every page is full. */
  readonly most: Most;
  /** What a replica must have replayed to be asked; null when the primary is to be. */
  readonly replicaLsns: RequiredLsns | null;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
};

/** The HTTP status and the JSON text of an answer, and what is told of it to operators. */
export type Answer = {
  readonly status: number;
  readonly body: string;
  readonly facts?: Pick<RequestFacts, 'code' | 'statements' | 'planningMs' | 'server'>;
};

export type ExecutionParts = {
  config: Pick<Config, 'limits' | 'slowMs'>;
  pool: Pool;
  /** Connections to the replica, if there is one. */
  replicaPool: Pool | null;
  secrets: Secrets;
  graph: Graph;
  log: Log;
};

/**
 * Executes operations. A failed field is part of the answer; too many rows or bytes refuse the query as a whole. What a mutation changed
 * stays changed, so that its answer has any number of rows, and one that is too long tells its errors alone.
 * The function that it returns throws {@link DocumentRefused} then, and {@link InvalidTokenError}.
 */
export function createExecution({ config, pool, replicaPool, secrets, graph, log }: ExecutionParts) {
  const { resolvedPreset } = graph;
  const rules = graph.schema.extensions.constraintRules as ConstraintRules;
  const { limits } = config;
  const reportIfSlow = createSlowOperations({ pool, slowMs: config.slowMs, log });

  const run = async (asked: Operation, server: Server): Promise<Answer> => {
    const { prepared, variables, token, requestId, most, signal } = asked;
    const { document, operation, schema } = prepared;
    const startedAt = performance.now();
    const claims = token?.claims ?? null;
    const isQuery = operation.operation === 'query';
    const settings =
      claims &&
      (isQuery
        ? graphSettings(claims, requestId, limits.rows)
        : mutationSettings(claims, requestId, limits.rows, lockTimeouts.first));
    const ran: RanStatement[] = [];
    const isReplica = server.pool === replicaPool;
    let isUnfit = false;
    const countRows = most.rows > limits.rows ? createRowCounter(limits.rows) : null;
    const args = await hookArgs({
      schema,
      resolvedPreset,
      document,
      operationName: operation.name?.value,
      variableValues: variables,
      contextValue: createContext(claims, secrets, countRows),
      outputDataAsString: true,
      requestContext: settings ? { pgSettings: settings } : {},
    });
    const graphContext = args.contextValue as Grafast.Context;
    const statements = createStatements(server, {
      token,
      // A change is carried through, since its client can no longer tell whether it was.
      signal: isQuery ? signal : neverAborted,
      retryLockTimeout: lockTimeouts.retry,
      inSnapshot: () => isQuery && graphContext.statementCount !== 1,
      ordinary: graphContext.withPgClient as WithPgClient,
      onRan: (statement) => ran.push(statement),
      onFailed: (error) => {
        isUnfit ||= isReplica && mayDiffer(error);
      },
    });
    // Its clients have all but the driver's own, which no plan uses.
    graphContext.withPgClient = statements.withPgClient as Grafast.Context['withPgClient'];
    // There is no @defer, @stream or subscription in the schema, by which the result would be an iterator.
    const result = (await Promise.resolve(execute(args)).finally(statements.end)) as ExecutionResult;
    const { data, errors } = result as Omit<ExecutionResult, 'data'> & { data?: string | null };

    // Nobody listens, and what its end broke is no failure.
    if (signal.aborted) return { status: errorCodes.UNAVAILABLE.status, body: '' };
    if (isUnfit) throw new ReplicaUnfit();
    const ended = errors?.find(({ originalError }) => originalError instanceof InvalidTokenError);
    if (ended) throw ended.originalError;

    const context = { requestId, rules, log, isOutdated: !!errors && (await isOutdated(errors, pool, graph)) };
    const presented = errors?.map((error) => presentError(error, context));
    const { planning } = graphContext;
    if (planning) tracePast('plan', planning.startedAt, planning.durationMs);
    const planningMs = planning?.durationMs ?? 0;
    const code = presented?.map(({ extensions }) => String(extensions?.code))[0];
    const isAway = errors?.some((error) => isUnavailable(rootOf(error))) ?? false;
    reportIfSlow(asked, { durationMs: performance.now() - startedAt, planningMs, code, isAway, ran, settings });

    // Whatever looks at the text makes one of its pieces, so that only the whole one is looked at.
    let body = toBody(data, presented);
    if (isQuery && (hasLimit(presented, 'rows') || hasMoreRows(body, limits.rows)))
      throw new DocumentRefused([limitExceeded('rows', limits.rows)]);
    if (hasLimit(presented, 'bytes') || hasMoreBytes(body, limits.bytes)) {
      if (isQuery) throw new DocumentRefused([limitExceeded('bytes', limits.bytes)]);
      body = withoutData(presented, limits.bytes);
    }
    const isToComeAgain = presented?.some(({ extensions }) => extensions?.code === 'UNAVAILABLE');
    const ofServer = replicaPool && isQuery ? { server: isReplica ? 'replica' : 'primary' } : {};
    const facts = { statements: ran.length, planningMs, ...ofServer, ...(code && { code }) };
    return { status: isToComeAgain ? errorCodes.UNAVAILABLE.status : 200, body, facts };
  };

  const runAnywhere = async (asked: Operation): Promise<Answer> => {
    if (replicaPool && asked.replicaLsns) {
      try {
        return await run(asked, { pool: replicaPool, requirement: requireReplayed(asked.replicaLsns) });
      } catch (error) {
        if (!(error instanceof ReplicaUnfit)) throw error;
      }
    }
    return run(asked, { pool, requirement: null });
  };

  return (asked: Operation): Promise<Answer> => traced('execute', {}, () => runAnywhere(asked));
}

/**
 * How long a mutation waits for a row that another one changes, two seconds with its retry; PostgreSQL's default is without end. The
 * first wait is longer than `deadlock_timeout`, so that of two that wait for each other one goes on.
 */
const lockTimeouts = { first: '1200ms', retry: '800ms' };

const neverAborted = new AbortController().signal;

const hasLimit = (errors: readonly GraphQLFormattedError[] | undefined, limit: 'rows' | 'bytes') =>
  errors?.some(({ extensions }) => extensions?.limit === limit) ?? false;

/** A UTF-16 code unit takes three bytes at most; so most answers need not be gone through. */
const hasMoreBytes = (body: string, most: number) => body.length * 3 > most && Buffer.byteLength(body) > most;

/** The answer to a mutation that would have too many bytes: that it is carried out, and what failed. */
function withoutData(errors: readonly GraphQLFormattedError[] = [], mostBytes: number): string {
  const { message, extensions } = limitExceeded('bytes', mostBytes);
  const tooLong = { message: `${message} What the mutation changed stays changed; select less of it.`, extensions };
  const others = errors.filter((error) => !hasLimit([error], 'bytes'));
  const body = toBody('null', [tooLong, ...others]);
  return hasMoreBytes(body, mostBytes) ? toBody('null', [tooLong]) : body;
}

function toBody(data: string | null | undefined, errors: readonly GraphQLFormattedError[] | undefined): string {
  const members = [data !== undefined && `"data":${data}`, errors && `"errors":${JSON.stringify(errors)}`];
  return `{${members.filter(Boolean).join(',')}}`;
}

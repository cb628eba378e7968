import type { IncomingMessage, ServerResponse } from 'node:http';
import { createFairQueue } from 'fair-queue';
import type { Pool } from 'pg';
import type { OperationTypeNode } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import { DatabaseUnavailable } from '../database/pool/unavailable.ts';
import { chooseEncoding } from '../http/compression.ts';
import type { RequestFields, RequestId } from '../observability/requestFields.ts';
import { traced } from '../observability/tracing/traced.ts';
import { createReplicaQueries } from '../replica/queries.ts';
import type { Replica } from '../replica/watchReplica.ts';
import { callerPath, withoutPermit } from '../scheduling/caller.ts';
import { systemClock } from '../scheduling/clock.ts';
import { refusedAs } from '../scheduling/refusedAs.ts';
import { inTurnIfLong } from '../scheduling/turns.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import { type CheckedArguments, checkArguments } from './document/arguments.ts';
import { DocumentError } from './document/documentError.ts';
import { limitExceeded } from './document/limitExceeded.ts';
import { refuseInexactNumbers } from './document/variables.ts';
import type { Answer } from './execution/answer.ts';
import { createExecution } from './execution/execution.ts';
import type { ExecutionOptions } from './execution/executionOptions.ts';
import { createIntrospectionCache } from './execution/introspection.ts';
import { isExpensive } from './offload/isExpensive.ts';
import type { OffloadThread } from './offload/OffloadThread.ts';
import { readIdempotencyKey } from './request/idempotencyKey.ts';
import { wantsEvents } from './request/negotiate.ts';
import type { ParsedRequest, RequestParser } from './request/parseRequest.ts';
import { RequestError } from './request/request.ts';
import { createStreamServer } from './stream/serveStreams.ts';

export type RequestExecutionOptions = Omit<ExecutionOptions, 'config' | 'replicaPool'> & {
  config: Config;
  /** Token introspection. */
  oauthPool: Pool;
  /** Null when the primary answers every request. */
  replica: Replica | null;
  offload: OffloadThread;
};

/** Validates an authenticated request and executes it: in this thread, in the offload thread, or as a stream. */
export function createRequestExecution(options: RequestExecutionOptions, parser: RequestParser) {
  const { config, oauthPool, replica, offload, log } = options;
  const queries = replica && createReplicaQueries(replica, oauthPool, log);
  const executeOperation = createExecution({ ...options, replicaPool: replica?.pool ?? null });
  const introspected = createIntrospectionCache();
  const streams = createStreamServer(options);
  const withWriterPermit = createWriterPermits(config);
  const checkOperation = createCheck(options);

  /** @returns null when a stream has answered */
  const execute = async (
    { request, response, body, requestId, signal }: Received,
    token: AccessToken | null,
    fields: RequestFields,
    introspection: ParsedRequest | null,
  ): Promise<Answer | null> => {
    const claims = token?.claims ?? null;
    const parsed = introspection ?? (await parser.parse(request, body, claims));
    const { parameters, prepared } = parsed;
    const { variables } = parameters;
    const kind = prepared.operation.operation;
    refuseGet(request, kind);
    fields.operationType = kind;
    fields.operation = prepared.operation.name?.value ?? 'anonymous';
    const checked = await checkOperation(parsed, parser.hidesNames(claims));
    const isQuery = kind === 'query';
    const replicaLsns = (isQuery && token && queries?.requiredLsns(token, requestId)) || null;
    const idempotencyKey = kind !== 'mutation' || !token ? null : readIdempotencyKey(request, prepared, variables);
    const operation = { ...checked, prepared, variables, token, requestId, replicaLsns, idempotencyKey, signal };
    if (kind === 'subscription') {
      await streams.serve(request, response, operation);
      return null;
    }
    const run = () =>
      isExpensive(operation)
        ? traced('execute elsewhere', () =>
            offload.execute(operation, wantsEvents(response) ? null : chooseEncoding(request)),
          )
        : introspected(prepared, () => executeOperation(operation));
    const answering = isQuery ? run() : withWriterPermit(run, signal);
    // Read-your-writes: recorded before the answer is sent, even if the mutation failed.
    const answered = await answering.finally(() => isQuery || !token || queries?.afterWrite(token, requestId));
    parser.store(parameters, claims);
    return answered;
  };

  return { execute, endStreams: streams.close };
}

export type Received = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
};

function refuseGet({ method }: IncomingMessage, kind: OperationTypeNode): void {
  if (method === 'GET' && kind !== 'query')
    throw new RequestError(`Send a ${kind} by POST.`, { status: 405, headers: { Allow: 'POST' } });
}

/** Validates the variables and arguments: of a long body, such as a sync's, in a turn of its own. */
function createCheck({ config, graph, secrets }: RequestExecutionOptions) {
  const maxRows = config.limits.rows;
  /** @throws {DocumentError} */
  return async ({ parameters, prepared, costMs }: ParsedRequest, hidesNames: boolean) => {
    const check = (): CheckedArguments => {
      refuseInexactNumbers(prepared, parameters.inexactNumbers);
      const checked = checkArguments(graph.schema, prepared, parameters.variables, secrets, hidesNames);
      if (checked.writtenRows > maxRows) throw new DocumentError([limitExceeded('rows', maxRows)]);
      return checked;
    };
    return inTurnIfLong(costMs, check);
  };
}

/**
 * Limits the connections that the mutations of one tenant hold at once.
 * Mutations may wait for each other's row locks, and hold their connections meanwhile.
 */
function createWriterPermits({ poolSize, poolWaitMs }: Config) {
  const writers = createFairQueue(
    {
      slots: Number.POSITIVE_INFINITY,
      slotsPerTenant: Math.max(2, Math.floor(shareOfWriters * poolSize)),
      maxWaiting: maxWaitingWriters,
      waitMs: poolWaitMs,
    },
    systemClock,
  );
  return async (execute: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> => {
    // Tenants compete for nothing here, so that the cost does not matter.
    const piece = { path: callerPath(), costMs: 1, signal };
    const permit = await withoutPermit(() => writers.acquire(piece)).catch(
      refusedAs((cause) => new DatabaseUnavailable({ cause })),
    );
    return execute().finally(() => permit.release());
  };
}

/**
 * The share of the connections that mutations of one tenant may hold.
 * With two of ten they waited for each other's commits.
 */
const shareOfWriters = 0.4;
/** A waiting request keeps its document in memory. */
const maxWaitingWriters = 200;

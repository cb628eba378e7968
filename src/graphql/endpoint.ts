import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Request, type Response } from 'express';
import type { Pool } from 'pg';
import type { ConstraintRules } from '../../plugins/constraintRules.ts';
import type { Config } from '../config.ts';
import { logUnavailable } from '../database/pool/logUnavailable.ts';
import { DatabaseUnavailable, isRetryable } from '../database/pool/unavailable.ts';
import { chooseEncoding, createEncoder } from '../http/compression.ts';
import { requestIdOf } from '../http/middleware/requestId.ts';
import { fieldsOf, type RequestFields, type RequestId } from '../observability/requestFields.ts';
import { traced } from '../observability/tracing/traced.ts';
import { createReplicaQueries } from '../replica/queries.ts';
import type { Replica } from '../replica/watchReplica.ts';
import { createReplicaTokenVerifier } from '../replica/writtenLsn.ts';
import { callerPath, identifyCaller, resumeQueued, withoutPermit } from '../scheduling/caller.ts';
import { createPermits } from '../scheduling/permits.ts';
import { type AccessToken, createTokenVerifier, InvalidTokenError } from '../token/accessTokens.ts';
import { readBearer } from '../token/bearer.ts';
import type { Claims } from '../token/claims.ts';
import { checkArguments } from './document/arguments.ts';
import { createDocumentReader, DocumentError, type PreparedDocument } from './document/document.ts';
import { inexactVariables } from './document/inexactVariables.ts';
import { limitExceeded } from './document/measureOperations.ts';
import { createAllowlist, createPersistedQueryCache } from './document/persisted.ts';
import { checkStoredOperations, type StoredOperations } from './document/storedOperations.ts';
import { presentError } from './errors.ts';
import type { Answer } from './execution/answer.ts';
import { createExecution } from './execution/execution.ts';
import type { ExecutionOptions } from './execution/executionOptions.ts';
import { createIntrospectionCache, isIntrospection, limitIntrospection } from './execution/introspection.ts';
import { isExpensive, type Offload } from './offload/offload.ts';
import { toErrorResponse, unauthenticated } from './request/errorResponse.ts';
import { readIdempotencyKey } from './request/idempotencyKey.ts';
import { negotiate, wantsEvents } from './request/negotiate.ts';
import { type GraphqlRequest, RequestError, readRequest } from './request/request.ts';
import { toEventStream } from './stream/eventStream.ts';
import { createStreamServer } from './stream/serveStreams.ts';

export type EndpointOptions = Omit<ExecutionOptions, 'config' | 'replicaPool'> & {
  config: Config;
  /** Token introspection. */
  oauthPool: Pool;
  /** Null when the primary answers every request. */
  replica: Replica | null;
  /** Null when any document is answered. */
  operations: StoredOperations | null;
  offload: Offload;
};

/**
 * `/graphql`, by the GraphQL-over-HTTP specification: GET for queries, POST for everything.
 * All requests except introspection need a bearer token. A request passes the steps from top to bottom, and is refused at the first that
 * it fails.
 *
 * @throws {ConfigError} when a stored operation does not fit the schema
 */
export function createEndpoint({
  config,
  pool,
  oauthPool,
  replica,
  secrets,
  graph,
  operations,
  offload,
  log,
}: EndpointOptions): Endpoint {
  const { schema } = graph;
  const readBody = createBodyReader(config.limits.body);
  const readDocument = createDocumentReader(schema, config.limits);
  if (operations) checkStoredOperations(operations, readDocument);
  const persisted = operations ? createAllowlist(operations) : createPersistedQueryCache();
  const queries = replica && createReplicaQueries(replica, oauthPool, log);
  const verifyToken = replica ? createReplicaTokenVerifier(oauthPool) : createTokenVerifier({ pool, oauthPool });
  const replicaPool = replica?.pool ?? null;
  const executeOperation = createExecution({ config, pool, replicaPool, secrets, graph, log });
  const introspected = createIntrospectionCache();
  const encode = createEncoder();
  // Mutations of one tenant may wait for each other's row locks. This limits the connections that they hold meanwhile.
  const writers = createPermits({
    maxHeld: Number.POSITIVE_INFINITY,
    maxHeldByTenant: Math.max(2, Math.floor(shareOfWriters * config.poolSize)),
    maxWaiting: maxWaitingWriters,
    waitMs: config.poolWaitMs,
    refusal: (cause) => new DatabaseUnavailable({ cause }),
  });
  const streams = createStreamServer({ config, pool, oauthPool, secrets, graph, log });
  const rules = schema.extensions.constraintRules as ConstraintRules;

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    negotiate(request, response);
    const body = await readBody(request, response);
    await resumeQueued();
    const received = { request, response, body, requestId: requestIdOf(response), signal: untilClosed(response) };
    const fields = fieldsOf(response);
    const answered = await executeWithToken(received, fields).catch((error: unknown) => {
      // Nothing was executed. The token may have been reassigned, and is no longer cached.
      if (error instanceof InvalidTokenError) return executeWithToken(received, fields);
      throw error;
    });
    if (!answered) return;
    Object.assign(fields, answered.fields);
    await send(request, response, answered);
  };

  /** Null when a stream has answered. */
  const executeWithToken = async (received: Received, fields: RequestFields): Promise<Answer | null> => {
    const { request, body, requestId, signal } = received;
    const bearer = readBearer(request);
    const token =
      bearer.kind === 'token' ? await traced('verify token', () => verifyToken(bearer.token, requestId)) : null;
    if (token) {
      fields.clientId = token.claims.clientId;
      identifyCaller(token.claims.organizationId);
    }
    const introspection = bearer.kind === 'missing' ? readIntrospection(request, body) : null;
    if (!token && !introspection) throw unauthenticated(bearer.kind);
    if (introspection) limitIntrospection(introspection.prepared);

    const [outcome] = await Promise.allSettled([perform(received, token, fields, introspection)]);
    // A revoked token decides over any other outcome, unless the database is unavailable or the client has disconnected.
    const wasUnavailable = outcome.status === 'rejected' ? isRetryable(outcome.reason) : outcome.value?.status === 503;
    if (!wasUnavailable && !signal.aborted) await token?.requireLive();
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };

  const perform = async (
    { request, response, body, requestId, signal }: Received,
    token: AccessToken | null,
    fields: RequestFields,
    introspection: ParsedRequest | null,
  ): Promise<Answer | null> => {
    const claims = token?.claims ?? null;
    const { parameters, prepared } = introspection ?? read(request, body, claims);
    if (request.method === 'GET' && prepared.operation.operation !== 'query') {
      throw new RequestError(`Send a ${prepared.operation.operation} by POST.`, {
        status: 405,
        headers: { Allow: 'POST' },
      });
    }
    fields.operationType = prepared.operation.operation;
    fields.operation = prepared.operation.name?.value ?? 'anonymous';
    const { variables, inexactNumbers } = parameters;
    const inexact = inexactVariables(prepared, inexactNumbers);
    if (inexact.length > 0) throw new DocumentError(inexact);
    const { cost, coerced, writtenRows } = checkArguments(schema, prepared, variables, hidesNames(claims));
    const maxRows = config.limits.rows;
    if (writtenRows > maxRows) throw new DocumentError([limitExceeded('rows', maxRows)]);
    const isQuery = prepared.operation.operation === 'query';
    const replicaLsns = (isQuery && token && queries?.requiredLsns(token, requestId)) || null;
    const idempotencyKey =
      prepared.operation.operation !== 'mutation' || !token ? null : readIdempotencyKey(request, prepared, variables);
    const operation = { prepared, variables, coerced, token, requestId, cost, replicaLsns, idempotencyKey, signal };
    if (prepared.operation.operation === 'subscription') {
      await streams.serve(request, response, operation);
      return null;
    }
    const execute = () =>
      isExpensive(operation)
        ? traced('execute elsewhere', () =>
            offload.execute(operation, wantsEvents(response) ? null : chooseEncoding(request)),
          )
        : introspected(prepared, () => executeOperation(operation));
    const answering = isQuery ? execute() : withWriterPermit(execute, signal);
    // Read-your-writes: recorded before the answer is sent, even if the mutation failed.
    const answered = await answering.finally(() => isQuery || !token || queries?.afterWrite(token, requestId));
    persisted.store(parameters, claims);
    return answered;
  };

  const withWriterPermit = async (execute: () => Promise<Answer>, signal: AbortSignal) => {
    const release = await withoutPermit(() => writers.acquire(callerPath(), signal));
    return execute().finally(release);
  };

  /** Whether errors suggest no names: without a token, or when not everyone may read the schema. */
  const hidesNames = (claims: Claims | null) => !claims || !config.publicIntrospection;

  const read = (request: IncomingMessage, body: Buffer, claims: Claims | null): ParsedRequest => {
    const parameters = readRequest(request, body);
    const prepared = traced('read document', () =>
      readDocument(persisted.find(parameters, claims), parameters.operationName, hidesNames(claims)),
    );
    return { parameters, prepared };
  };

  /** The request if it is only introspection, which needs no token. */
  const readIntrospection = (request: IncomingMessage, body: Buffer): ParsedRequest | null => {
    if (!config.publicIntrospection) return null;
    try {
      const parsed = read(request, body, null);
      return isIntrospection(parsed.prepared) ? parsed : null;
    } catch (error) {
      if (error instanceof RequestError || error instanceof DocumentError) return null;
      throw error;
    }
  };

  /**
   * Compressed if the client asks.
   * No browser adds a credential to these requests by itself, so BREACH has no victim here.
   */
  const send = async (request: IncomingMessage, response: ServerResponse, answer: Answer) => {
    const { status, body, headers = {}, encoded } = wantsEvents(response) ? toEventStream(answer) : answer;
    if (status === 503) response.setHeader('Retry-After', '2');
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    const { encoding, content } = encoded ?? (await encode(body, () => chooseEncoding(request)));
    if (encoding !== 'identity') response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Length', Buffer.byteLength(content));
    response.end(content);
  };

  const refuse = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    // The client could not parse a second answer.
    if (response.headersSent) return void response.destroy();
    const requestId = requestIdOf(response);
    const { status, headers = {}, errors } = toErrorResponse(error, response, config);
    if (status === 503) logUnavailable(log, error, { requestId });
    const presented = errors.map((error) => presentError(error, { requestId, rules, log }));
    fieldsOf(response).code = String(presented[0]?.extensions?.code);
    void send(request, response, { status, headers, body: JSON.stringify({ errors: presented }) });
  };

  return {
    graphql(request, response) {
      answer(request, response).catch((error: unknown) => refuse(error, request, response));
    },
    endStreams: streams.close,
  };
}

export type Endpoint = {
  readonly graphql: RequestListener;
  /** Completes the open streams, which would not end by themselves, and refuses new ones. */
  endStreams(): void;
};

/**
 * The share of the connections that mutations of one tenant may hold.
 * With two of ten they waited for each other's commits.
 */
const shareOfWriters = 0.4;
/** Each keeps its document. */
const maxWaitingWriters = 200;

type ParsedRequest = { readonly parameters: GraphqlRequest; readonly prepared: PreparedDocument };

type Received = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly requestId: RequestId;
  readonly signal: AbortSignal;
};

/** Aborts when the client closes the connection before it has its answer. */
function untilClosed(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

/** Reads bodies by express' parser, whose errors have the status of the client's mistake. */
function createBodyReader(limit: number) {
  const read = express.raw({ type: () => true, limit });
  return (request: IncomingMessage & { body?: unknown }, response: ServerResponse): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      read(request as Request, response as Response, (error?: unknown) => {
        if (error) reject(error);
        else resolve(request.body instanceof Buffer ? request.body : Buffer.alloc(0));
      });
    });
}

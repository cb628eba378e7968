import type { IncomingMessage, ServerResponse } from 'node:http';
import { createFairQueue } from 'fair-queue';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type DocumentNode, type GraphQLSchema, Kind, type OperationTypeNode } from 'postgraphile/graphql';
import { refusal } from '../../plugins/refusal.ts';
import type { Config } from '../config.ts';
import { DatabaseUnavailable } from '../database/pool/unavailable.ts';
import { chooseEncoding } from '../http/compression.ts';
import { requestIdOf } from '../http/middleware.ts';
import { createBodyReader, free, untilClosed, weighJson } from '../http/requestBody.ts';
import { fieldsOf, type RequestFields, type RequestId } from '../observability/requestFields.ts';
import { traced } from '../observability/traced.ts';
import type { ReplicaQueries } from '../replica/watchReplica.ts';
import { callerPath, refusedAs, resumeQueued, withoutPermit } from '../scheduling/caller.ts';
import { systemClock } from '../scheduling/clock.ts';
import { inTurn, inTurnIfLong } from '../scheduling/turns.ts';
import {
  type AccessToken,
  type Bearer,
  readBearer,
  type TokenVerifier,
  withBearerToken,
} from '../token/accessTokens.ts';
import type { Claims } from '../token/settings.ts';
import type { Answer } from './answer.ts';
import { type CheckedArguments, checkArguments } from './document/arguments.ts';
import { bytesOfCharacter, createDocumentReader, type PreparedDocument } from './document/document.ts';
import { DocumentError, limitExceeded } from './document/documentError.ts';
import {
  checkStoredOperations,
  createAllowlist,
  createPersistedQueryCache,
  type StoredOperations,
} from './document/persisted.ts';
import { declaredVariables, refuseInexactNumbers } from './document/variables.ts';
import { errorCodes } from './errors.ts';
import { createExecution, type ExecutionOptions } from './execute.ts';
import type { OffloadThread } from './offload/OffloadThread.ts';
import { isExpensive } from './operation.ts';
import { type GraphqlRequest, RequestError, readIdempotencyKey, readRequest } from './request.ts';
import { createAnswerSender, negotiate, unauthenticated, wantsEvents } from './response.ts';
import { createStreamServer, type StreamServer } from './stream/serveStreams.ts';

type EndpointOptions = Omit<ExecutionOptions, 'config' | 'replicaPool'> & {
  readonly config: Config;
  /** Verifies the tokens of streams, and reads the feed. */
  readonly oauthPool: Pool;
  readonly verifyToken: TokenVerifier;
  /** Null when the primary answers every request. */
  readonly replica: ReplicaQueries | null;
  readonly offload: OffloadThread;
  /** Null when any document is answered. */
  readonly operations: StoredOperations | null;
};

/**
 * `/graphql`, by the GraphQL-over-HTTP specification: GET for queries, POST for everything.
 * All requests except introspection need a bearer token. A request passes the steps from top to bottom, and is refused at the first that
 * it fails.
 *
 * @throws {ConfigError} when a stored operation does not fit the schema
 */
export function createEndpoint(options: EndpointOptions) {
  const { config, verifyToken, graph, operations, log } = options;
  const readBody = createBodyReader(config.limits.body);
  const parser = createRequestParser(graph.schema, config, operations);
  const streams = createStreamServer(options);
  const execute = createRequestExecution(options, parser, streams);
  const { send, refuse } = createAnswerSender(graph.schema, config, log);

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    negotiate(request, response);
    const body = await readBody(request, response);
    await resumeQueued();
    const received = {
      request,
      response,
      body,
      bearer: readBearer(request),
      requestId: requestIdOf(response),
      fields: fieldsOf(response),
      signal: untilClosed(response),
    };
    const work = (token: AccessToken | null) => execute(received, token);
    const answered = await withBearerToken(received.bearer, verifyToken, received, work, wasUnavailable).finally(() =>
      free(body),
    );
    if (!answered) return;
    Object.assign(received.fields, answered.fields);
    await send(request, response, answered);
  };

  return {
    graphql(request: IncomingMessage, response: ServerResponse): void {
      answer(request, response).catch((error: unknown) => refuse(error, request, response));
    },
    /** Completes the open streams, which would not end by themselves, and refuses new ones. */
    endStreams: streams.close,
  };
}

type Received = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly bearer: Bearer;
  readonly requestId: RequestId;
  readonly fields: RequestFields;
  readonly signal: AbortSignal;
};

const wasUnavailable = (answer: Answer | null) => answer?.status === errorCodes.UNAVAILABLE.status;

/** Validates a request and executes it: in this thread, in the offload thread, or as a stream. */
function createRequestExecution(options: EndpointOptions, parser: RequestParser, streams: StreamServer) {
  const { config, replica, offload } = options;
  const executeOperation = createExecution({ ...options, replicaPool: replica?.pool ?? null });
  const introspected = createIntrospectionCache();
  const withWriterPermit = createWriterPermits(config);

  /** @returns null when a stream has answered */
  return async (received: Received, token: AccessToken | null): Promise<Answer | null> => {
    const { request, response, body, requestId, fields, signal } = received;
    const parsed = await (token ? parser.parse(request, body, token.claims) : parseWithoutToken(received, parser));
    const { parameters, prepared } = parsed;
    const { variables } = parameters;
    const kind = prepared.operation.operation;
    refuseGet(request, kind);
    fields.operationType = kind;
    fields.operation = prepared.operation.name?.value ?? 'anonymous';
    const claims = token?.claims ?? null;
    const checked = await checkInTurn(parsed, options, parser.hidesNames(claims));
    const isQuery = kind === 'query';
    const replicaLsns = (isQuery && token && replica?.requiredLsns(token, requestId)) || null;
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
    const answered = await answering.finally(() => isQuery || !token || replica?.afterWrite(token, requestId));
    parser.store(parameters, claims);
    return answered;
  };
}

/** @throws {RequestError} 401 when the request is not only introspection */
async function parseWithoutToken({ request, body, bearer }: Received, parser: RequestParser): Promise<ParsedRequest> {
  const introspection = bearer.kind === 'missing' ? await parser.parseIntrospection(request, body) : null;
  if (!introspection) throw unauthenticated(bearer.kind);
  limitIntrospection(introspection.prepared);
  return introspection;
}

function refuseGet({ method }: IncomingMessage, kind: OperationTypeNode): void {
  if (method === 'GET' && kind !== 'query')
    throw new RequestError(`Send a ${kind} by POST.`, { status: 405, headers: { Allow: 'POST' } });
}

/** Validates the variables and arguments: of a long body, such as a sync's, in a turn of its own. @throws {DocumentError} */
const checkInTurn = (
  { parameters, prepared, costMs }: ParsedRequest,
  { config, graph, secrets }: EndpointOptions,
  hidesNames: boolean,
) =>
  inTurnIfLong(costMs, (): CheckedArguments => {
    const maxRows = config.limits.rows;
    refuseInexactNumbers(prepared, parameters.inexactNumbers);
    const checked = checkArguments(graph.schema, prepared, parameters.variables, secrets, hidesNames);
    if (checked.writtenRows > maxRows) throw new DocumentError([limitExceeded('rows', maxRows)]);
    return checked;
  });

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

/** The share of the connections that mutations of one tenant may hold; with fewer they wait for each other's commits. */
const shareOfWriters = 0.4;
/** A waiting request keeps its document in memory. */
const maxWaitingWriters = 200;

/** Its variables are those that the operation declares. */
type ParsedRequest = {
  readonly parameters: GraphqlRequest;
  readonly prepared: PreparedDocument;
  /** The time in milliseconds that checking its values takes at most. */
  readonly costMs: number;
};

/** Reads the parameters of requests, and their documents by text or id. */
interface RequestParser {
  /** Whether errors suggest no names: without a token, or when not everyone may read the schema. */
  hidesNames(claims: Claims | null): boolean;
  parse(request: IncomingMessage, body: Buffer, claims: Claims | null): Promise<ParsedRequest>;
  /** The request if it is only introspection, which needs no token. */
  parseIntrospection(request: IncomingMessage, body: Buffer): Promise<ParsedRequest | null>;
  /** Stores the document of a successful request under its id. */
  store(parameters: GraphqlRequest, claims: Claims | null): void;
}

/** @throws {ConfigError} when a stored operation does not fit the schema */
export function createRequestParser(
  schema: GraphQLSchema,
  config: Config,
  operations: StoredOperations | null,
): RequestParser {
  const readDocument = createDocumentReader(schema, config.limits);
  if (operations) checkStoredOperations(operations, readDocument);
  const persisted = operations ? createAllowlist(operations) : createPersistedQueryCache();

  const hidesNames = (claims: Claims | null) => !claims || !config.publicIntrospection;

  const parse = async (request: IncomingMessage, body: Buffer, claims: Claims | null): Promise<ParsedRequest> => {
    const weight = weighJson(body);
    const parameters = await inTurnIfLong(weight.costMs, () => readRequest(request, body, weight));
    const query = persisted.find(parameters, claims);
    const read = () => traced('read document', () => readDocument(query, parameters.operationName, hidesNames(claims)));
    const isLong = query.length > maxShortDocument && !readDocument.isKnown(query);
    const prepared = isLong ? await inTurn(msOfCharacter * query.length, read) : read();
    const variables = declaredVariables(parameters.variables, prepared.operation);
    return { parameters: { ...parameters, variables }, prepared, costMs: weight.costMs };
  };

  return {
    hidesNames,
    parse,
    async parseIntrospection(request, body) {
      if (!config.publicIntrospection) return null;
      try {
        const parsed = await parse(request, body, null);
        return isIntrospection(parsed.prepared) ? parsed : null;
      } catch (error) {
        if (error instanceof RequestError || error instanceof DocumentError) return null;
        throw error;
      }
    },
    store: persisted.store,
  };
}

/** In characters. To parse and validate a longer document is a piece of work of its own in a turn of the event loop. */
const maxShortDocument = 500;

const msOfCharacter = 5e-4;

/** Whether the operation is introspection alone (`__schema`, `__type`). */
function isIntrospection(prepared: PreparedDocument): boolean {
  const { operation, rootFields } = prepared;
  const isMeta = rootFields.every((name) => ['__schema', '__type', '__typename'].includes(name));
  return operation.operation === 'query' && isMeta && rootFields.some((name) => name !== '__typename');
}

/** How many of each an operation without a token may have: one introspection, or an editor's look-ups. */
const maxWithoutToken = { __schema: 1, __type: 10 };

/** @throws {DocumentError} when it has more than {@link maxWithoutToken} */
function limitIntrospection({ rootFields }: PreparedDocument): void {
  for (const [name, max] of Object.entries(maxWithoutToken)) {
    if (rootFields.filter((other) => other === name).length <= max) continue;
    const message = `Without a token an operation asks for ${name} at most ${max === 1 ? 'once' : `${max} times`}; send one.`;
    throw new DocumentError([refusal('LIMIT_EXCEEDED', message, { limit: 'aliases' })]);
  }
}

/** The memory limit of cached answers and documents; a complete answer has some 100,000 characters. */
const cacheBytes = 8_000_000;

/** Response cache of introspection without variables: with one schema these answers are constant. */
function createIntrospectionCache() {
  const known = new LRUCache<DocumentNode, Answer>({ maxSize: cacheBytes });

  return async (prepared: PreparedDocument, execute: () => Promise<Answer>): Promise<Answer> => {
    if (!isIntrospection(prepared)) return execute();
    const { document, operation } = prepared;
    const isConstant = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1;
    if (!isConstant || operation.variableDefinitions?.length) return execute();
    const remembered = known.get(document);
    if (remembered) return remembered;
    const answer = await execute();
    if (answer.status === 200 && !answer.fields?.code) {
      // The cache also keeps the document's tree.
      const size = answer.body.length + bytesOfCharacter * prepared.query.length;
      known.set(document, { ...answer, fields: { statements: 0 } }, { size });
    }
    return answer;
  };
}

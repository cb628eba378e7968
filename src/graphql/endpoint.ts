import express, { type ErrorRequestHandler, type Request, type Response, Router } from 'express';
import type { Pool } from 'pg';
import type { GraphQLError } from 'postgraphile/graphql';
import type { ConstraintRules } from '../../plugins/ConstraintRulesPlugin.ts';
import type { Config } from '../config.ts';
import { logUnavailable } from '../database/logUnavailable.ts';
import type { Replica } from '../database/replica.ts';
import { isTemporary } from '../database/unavailable.ts';
import { factsOf } from '../http/facts.ts';
import { requestIdOf } from '../http/requestId.ts';
import type { Log } from '../log.ts';
import type { Secrets } from '../secrets.ts';
import { type AccessToken, AccessTokenEnded, createPresentToken } from '../token/accessTokens.ts';
import { type Bearer, bearerChallenge, bearerProblem, readBearer } from '../token/bearer.ts';
import { createPresentWriter } from '../token/writes.ts';
import { traced, tracedSync } from '../tracing/traced.ts';
import { checkArguments } from './arguments.ts';
import { createDocumentReader, DocumentRefused, isIntrospection } from './document.ts';
import { graphqlError, presentError } from './errors.ts';
import { type Answer, createExecution } from './execution.ts';
import { isLong, type Offload } from './offload.ts';
import { allowOnly, rememberDocuments } from './persisted.ts';
import { createReplicaQueries } from './replicaQueries.ts';
import { RequestRefused, readRequest } from './request.ts';
import type { Graph } from './schema.ts';
import { checkStoredOperations, type StoredOperations } from './storedOperations.ts';

export type EndpointParts = {
  config: Config;
  pool: Pool;
  /** Null when all is asked of the primary. */
  replica: Replica | null;
  secrets: Secrets;
  graph: Graph;
  /** Null when any document is answered. */
  operations: StoredOperations | null;
  offload: Offload;
  log: Log;
};

/**
 * `/graphql`, by the GraphQL-over-HTTP specification: GET for queries, POST for everything, and a bearer token for all but
 * introspection. A request passes from top to bottom and is refused at the first step that it fails.
 *
 * @throws {ConfigError} when a stored operation does not fit the schema
 */
export function createEndpoint({
  config,
  pool,
  replica,
  secrets,
  graph,
  operations,
  offload,
  log,
}: EndpointParts): Router {
  const { schema } = graph;
  const readDocument = createDocumentReader(schema, config.limits);
  if (operations) checkStoredOperations(operations, readDocument);
  const persisted = operations ? allowOnly(operations) : rememberDocuments();
  const queries = replica && createReplicaQueries(replica, pool, log);
  const present = replica ? createPresentWriter(pool) : createPresentToken(pool);
  const replicaPool = replica?.pool ?? null;
  const executeOperation = createExecution({ config, pool, replicaPool, secrets, graph, log });
  const rules = schema.extensions.constraintRules as ConstraintRules;

  const answer = async (request: Request, response: Response) => {
    const requestId = requestIdOf(response);
    const bearer = readBearer(request);
    const token =
      bearer.kind === 'token' ? await traced('look at token', {}, () => present(bearer.token, requestId)) : null;
    if (token) factsOf(response).clientId = token.claims.clientId;
    else if (bearer.kind !== 'missing' || !isPublic(request)) throw unauthenticated(bearer.kind);

    const signal = untilClosed(response);
    const [outcome] = await Promise.allSettled([perform(request, response, token, signal)]);
    // That the token has ended goes before whatever else can be said, unless nothing can be asked or nobody listens.
    const isAway = outcome.status === 'rejected' ? isTemporary(outcome.reason) : outcome.value.status === 503;
    if (!isAway && !signal.aborted) await token?.requireLive();
    if (outcome.status === 'rejected') throw outcome.reason;
    Object.assign(factsOf(response), outcome.value.facts);
    send(response, outcome.value);
  };

  const perform = async (request: Request, response: Response, token: AccessToken | null, signal: AbortSignal) => {
    const facts = factsOf(response);
    const requestId = requestIdOf(response);
    const parameters = readRequest(request);
    const claims = token?.claims ?? null;
    const prepared = tracedSync('read document', () =>
      readDocument(persisted.find(parameters, claims), parameters.operationName),
    );
    if (request.method === 'GET' && prepared.operation.operation === 'mutation') {
      throw new RequestRefused(405, 'Send a mutation by POST.', { headers: { Allow: 'POST' } });
    }
    facts.operationType = prepared.operation.operation;
    facts.operation = prepared.operation.name?.value ?? 'anonymous';
    const { variables } = parameters;
    const mostRows = checkArguments(schema, prepared, variables);
    const isQuery = prepared.operation.operation === 'query';
    const replicaLsns = (isQuery && token && queries?.requiredBy(token, requestId)) || null;
    const operation = { prepared, variables, token, requestId, mostRows, replicaLsns, signal };
    const answering = isLong(operation)
      ? traced('execute elsewhere', {}, () => offload.execute(operation))
      : executeOperation(operation);
    // Whatever came of a change: whoever is told of it, or asks again, shall see it.
    const answered = await answering.finally(() => isQuery || !token || queries?.changedBy(token, requestId));
    persisted.keep(parameters, claims);
    return answered;
  };

  /** Introspection alone is answered without a token; what cannot be read is none. */
  const isPublic = (request: Request): boolean => {
    if (!config.publicIntrospection) return false;
    try {
      const parameters = readRequest(request);
      return isIntrospection(readDocument(persisted.find(parameters, null), parameters.operationName));
    } catch (error) {
      if (error instanceof RequestRefused || error instanceof DocumentRefused) return false;
      throw error;
    }
  };

  const refuse: ErrorRequestHandler = (error, _request, response, next) => {
    const refusal = toAnswer(error, response, config);
    if (!refusal) return next(error);
    const requestId = requestIdOf(response);
    if (refusal.status === 503) logUnavailable(log, error, { requestId });
    const errors = refusal.errors.map((error) => presentError(error, { requestId, rules, log }));
    factsOf(response).code = String(errors[0]?.extensions?.code);
    send(response.set(refusal.headers ?? {}), { status: refusal.status, body: JSON.stringify({ errors }) });
  };

  return Router()
    .all('/', negotiate, express.raw({ type: () => true, limit: config.limits.body }), answer)
    .use(refuse);
}

const jsonMediaType = 'application/json';
const graphqlMediaType = 'application/graphql-response+json';

/** Method and media type; `application/json` is what a client gets that does not say. */
function negotiate(request: Request, response: Response, next: () => void): void {
  // Beside what it depends on already, such as the origin.
  response.set('Cache-Control', 'no-store').vary('Accept, Authorization');
  const types = [jsonMediaType, graphqlMediaType].flatMap((type) => [type, `${type}; charset=utf-8`]);
  const accepted = request.accepts(types);
  const mediaType = (accepted || '').startsWith(graphqlMediaType) ? graphqlMediaType : jsonMediaType;
  response.set('Content-Type', `${mediaType}; charset=utf-8`);
  if (request.method !== 'GET' && request.method !== 'POST') {
    throw new RequestRefused(405, 'Send the operation by POST, or a query by GET.', {
      headers: { Allow: 'GET, POST' },
    });
  }
  if (!accepted)
    throw new RequestRefused(406, `The answer is ${graphqlMediaType} or ${jsonMediaType}; accept one of them.`);
  next();
}

/** Aborts when the client closes the connection before it has its answer. */
function untilClosed(response: Response): AbortSignal {
  const controller = new AbortController();
  response.on('close', () => {
    if (!response.writableEnded) controller.abort();
  });
  return controller.signal;
}

function send(response: Response, { status, body }: Answer): void {
  if (status === 503) response.set('Retry-After', '2');
  response.status(status).send(Buffer.from(body));
}

type Refusal = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
};

/** What was thrown on the way, as an answer; null for a defect of our own. */
function toAnswer(error: unknown, response: Response, config: Config): Refusal | null {
  if (error instanceof RequestRefused) return { status: error.status, headers: error.headers, errors: [error.error] };
  if (error instanceof DocumentRefused) {
    // Clients of `application/json` tell a GraphQL answer from that of a proxy by its status.
    const isLegacy = response.get('Content-Type')?.startsWith(jsonMediaType);
    return { status: isLegacy ? 200 : 400, errors: error.errors };
  }
  if (error instanceof AccessTokenEnded) return toAnswer(unauthenticated('token'), response, config);
  if (isTemporary(error)) {
    return { status: 503, errors: [graphqlError('UNAVAILABLE', 'The database is not available; try again later.')] };
  }
  // What body-parser throws has the status of the client's mistake.
  const status = error instanceof Error && 'status' in error ? error.status : null;
  if (status === 413) {
    return {
      status,
      errors: [
        graphqlError('LIMIT_EXCEEDED', `The body has more than ${config.limits.body} bytes.`, { limit: 'body' }),
      ],
    };
  }
  if (status === 400 || status === 415)
    return { status, errors: [graphqlError('BAD_USER_INPUT', 'The body cannot be read.')] };
  return null;
}

function unauthenticated(kind: Bearer['kind']): RequestRefused {
  return new RequestRefused(401, bearerProblem(kind), {
    code: 'UNAUTHENTICATED',
    headers: { 'WWW-Authenticate': bearerChallenge(kind) },
  });
}

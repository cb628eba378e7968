import type { IncomingMessage, ServerResponse } from 'node:http';
import { isRetryable } from '../database/pool/unavailable.ts';
import { requestIdOf } from '../http/middleware.ts';
import { createBodyReader, untilClosed } from '../http/requestBody.ts';
import { fieldsOf, type RequestFields } from '../observability/requestFields.ts';
import { traced } from '../observability/tracing/traced.ts';
import { createReplicaTokenVerifier } from '../replica/writtenLsn.ts';
import { identifyCaller, resumeQueued } from '../scheduling/caller.ts';
import { createTokenVerifier, InvalidTokenError } from '../token/accessTokens.ts';
import { readBearer } from '../token/bearer.ts';
import type { StoredOperations } from './document/storedOperations.ts';
import { createRequestExecution, type Received, type RequestExecutionOptions } from './executeRequest.ts';
import type { Answer } from './execution/answer.ts';
import { limitIntrospection } from './execution/introspection.ts';
import { unauthenticated } from './request/errorResponse.ts';
import { negotiate } from './request/negotiate.ts';
import { createRequestParser } from './request/parseRequest.ts';
import { createAnswerSender } from './request/sendAnswer.ts';

export type EndpointOptions = RequestExecutionOptions & {
  /** Null when any document is answered. */
  operations: StoredOperations | null;
};

/**
 * `/graphql`, by the GraphQL-over-HTTP specification: GET for queries, POST for everything.
 * All requests except introspection need a bearer token. A request passes the steps from top to bottom, and is refused at the first that
 * it fails.
 *
 * @throws {ConfigError} when a stored operation does not fit the schema
 */
export function createEndpoint(options: EndpointOptions) {
  const { config, pool, oauthPool, replica, graph, operations, log } = options;
  const readBody = createBodyReader(config.limits.body);
  const parser = createRequestParser(graph.schema, config, operations);
  const verifyToken = replica ? createReplicaTokenVerifier(pool, oauthPool) : createTokenVerifier({ pool, oauthPool });
  const { execute, endStreams } = createRequestExecution(options, parser);
  const { send, refuse } = createAnswerSender(graph.schema, config, log);

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    negotiate(request, response);
    const body = await readBody(request, response);
    await resumeQueued();
    const received = { request, response, body, requestId: requestIdOf(response), signal: untilClosed(response) };
    const fields = fieldsOf(response);
    const answered = await executeWithToken(received, fields).catch((error: unknown) => {
      // Nothing was executed. The token may have been reassigned, and is no longer cached.
      if (error instanceof InvalidTokenError && !error.wasLive) return executeWithToken(received, fields);
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
    const introspection = bearer.kind === 'missing' ? await parser.parseIntrospection(request, body) : null;
    if (!token && !introspection) throw unauthenticated(bearer.kind);
    if (introspection) limitIntrospection(introspection.prepared);

    const [outcome] = await Promise.allSettled([execute(received, token, fields, introspection)]);
    // A revoked token decides over any other outcome, unless the database is unavailable or the client has disconnected.
    const wasUnavailable = outcome.status === 'rejected' ? isRetryable(outcome.reason) : outcome.value?.status === 503;
    if (!wasUnavailable && !signal.aborted) await token?.requireLive();
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  };

  return {
    graphql(request: IncomingMessage, response: ServerResponse): void {
      answer(request, response).catch((error: unknown) => refuse(error, request, response));
    },
    /** Completes the open streams, which would not end by themselves, and refuses new ones. */
    endStreams,
  };
}

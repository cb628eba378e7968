import type { IncomingMessage } from 'node:http';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { isRetryable, logUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { requestIdOf } from './middleware.ts';
import { isOfAuthzen, isOfGraphql, spellingOf } from './requestTarget.ts';

/** Why a request is refused before it reaches an endpoint: for GraphQL a code, for OAuth and others an error. */
export type Refusal = {
  readonly code: 'BAD_USER_INPUT' | 'LIMIT_EXCEEDED' | 'UNAVAILABLE';
  readonly limit?: 'headers' | 'body';
  readonly error: string;
  readonly description: string;
};

/** A refusal in the form of the path: GraphQL's errors, a text for AuthZEN and browsers, else as OAuth has it (RFC 6749 section 5.2). */
export function refusalFor(path: string | undefined, accept: string, refusal: Refusal): { type: string; body: string } {
  const { code, limit, error, description } = refusal;
  if (isOfGraphql(path)) {
    const body = JSON.stringify({ errors: [{ message: description, extensions: { code, limit } }] });
    return { type: accept.includes(graphqlMediaType) ? graphqlMediaType : 'application/json', body };
  }
  if (isOfAuthzen(path) || accept.includes('text/html')) return { type: 'text/plain', body: description };
  return { type: 'application/json', body: JSON.stringify({ error, error_description: description }) };
}

const graphqlMediaType = 'application/graphql-response+json';

/** The last mount but one: no other has answered. */
export const answerNotFound: RequestHandler = (request, response) => {
  const refusal = { code: 'BAD_USER_INPUT', error: 'not_found', description: 'Nothing is at this path.' } as const;
  const accept = isOfGraphql(spellingOf(request.originalUrl)) ? acceptOf(request) : '';
  const { type, body } = refusalFor(spellingOf(request.originalUrl), accept, refusal);
  response.status(404).type(type).send(body);
};

const acceptOf = ({ headers }: IncomingMessage) => headers.accept ?? '';

/** Replaces everything that needs the database, until it is available for the first time. */
export const answerUnavailable: RequestHandler = (request, response) => {
  const { type, body } = refusalFor(spellingOf(request.originalUrl), acceptOf(request), unavailable);
  response.status(503).set({ 'Retry-After': '2', 'Cache-Control': 'no-store' }).type(type).send(body);
};

const unavailable: Refusal = {
  code: 'UNAVAILABLE',
  error: 'temporarily_unavailable',
  description: 'The service is not ready; /readyz says why.',
};

/**
 * The last mount: the answer to an error that another mount threw.
 * A parser's error becomes its 4xx status, an unavailable database 503, anything else 500 with the request's id, its cause in the log only.
 * An error's message never reaches the client. A 4xx has no message in the log either: a parser quotes the body, which may hold a password.
 */
export function handleErrors(log: Log): ErrorRequestHandler {
  // Express recognizes an error handler by its four parameters.
  return (error, _request, response, _next) => {
    const requestId = requestIdOf(response);
    const status = clientErrorStatus(error);
    if (status !== null) log.debug({ requestId, status, type: error.type }, 'refused a request');
    else if (isRetryable(error)) logUnavailable(log, error, { requestId });
    else log.error({ requestId, error }, 'a request failed');

    if (response.headersSent) response.destroy();
    else if (status !== null) response.status(status).json(clientErrors[status]);
    else if (isRetryable(error)) answerUnavailable(_request, response, _next);
    else
      response.status(500).json({ error: 'internal', error_description: `The cause is in the log: ${requestId.id}` });
  };
}

const clientErrors: Record<number, { error: string; error_description: string }> = {
  400: { error: 'bad_request', error_description: 'The request cannot be read.' },
  413: { error: 'content_too_large', error_description: 'The body is too large.' },
  415: { error: 'unsupported_media_type', error_description: 'The content type or encoding is not supported.' },
};

/** Express and body-parser set a status on the error; a status without a text here becomes 400. */
function clientErrorStatus(error: unknown): number | null {
  const status = error instanceof Error && 'status' in error ? Number(error.status) : 500;
  if (!(status >= 400 && status < 500)) return null;
  return status in clientErrors ? status : 400;
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { GraphQLError, type GraphQLSchema } from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import { hasMoved, isRetryable, logUnavailable } from '../database/pool/unavailable.ts';
import { chooseEncoding, createEncoder, type Encoded } from '../http/compression.ts';
import { requestIdOf } from '../http/middleware.ts';
import type { Log } from '../log.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { type Bearer, bearerChallenge, bearerProblems, InvalidTokenError } from '../token/accessTokens.ts';
import { type Answer, toBody } from './answer.ts';
import { DocumentError, limitExceeded } from './document/documentError.ts';
import { errorCodes, movedMessage, presentError } from './errors.ts';
import { RequestError } from './request.ts';

/** Sends answers and refusals, in the media type and encoding that the client asks for. */
export function createAnswerSender({ extensions }: GraphQLSchema, config: Config, log: Log) {
  const rules = extensions.constraintRules;
  const encode = createEncoder();

  /**
   * Sends an answer, compressed if the client accepts that.
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
    if (encoded) freeOnClose(response, encoded);
  };

  const refuse = (error: unknown, request: IncomingMessage, response: ServerResponse): void => {
    // The client could not parse a second answer.
    if (response.headersSent) return void response.destroy();
    const requestId = requestIdOf(response);
    const { status, headers = {}, errors, total } = toErrorResponse(error, response, config);
    if (status === 503) logUnavailable(log, error, { requestId });
    const presented = errors.map((error) => presentError(error, { requestId, rules, log }));
    fieldsOf(response).code = String(presented[0]?.extensions?.code);
    void send(request, response, { status, headers, body: toBody(undefined, presented, total) });
  };

  return { send, refuse };
}

/** Frees a long answer when it is sent: V8 collects this thread's heap, which has only a reference, too rarely. */
function freeOnClose(response: ServerResponse, { content }: Encoded): void {
  const free = () => {
    if (content instanceof Uint8Array && content.buffer instanceof ArrayBuffer) content.buffer.transfer(0);
  };
  if (response.closed) free();
  else response.once('close', free);
}

type ErrorResponse = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors: readonly GraphQLError[];
  /** How many errors there were, as words, if the answer has not all of them. */
  readonly total?: string;
};

function toErrorResponse(error: unknown, response: ServerResponse, { limits }: Pick<Config, 'limits'>): ErrorResponse {
  if (error instanceof RequestError) return error;
  if (error instanceof DocumentError)
    return { status: wantsJson(response) ? 200 : statusOf(error), errors: error.errors, total: error.total };
  if (error instanceof InvalidTokenError) return unauthenticated('token');
  if (hasMoved(error)) return new RequestError(movedMessage, { code: 'UNAVAILABLE' });
  if (isRetryable(error))
    return new RequestError('The database is not available; try again later.', { code: 'UNAVAILABLE' });
  // An error of body-parser has the status of the client's mistake.
  const status = error instanceof Error && 'status' in error ? error.status : null;
  if (status === 413) return { status, errors: [limitExceeded('body', limits.body)] };
  if (status === 400 || status === 415) return new RequestError('The body cannot be read.', { status });
  // A defect of our own, which is logged.
  const originalError = error instanceof Error ? error : new Error('thrown', { cause: error });
  return { status: errorCodes.INTERNAL.status, errors: [new GraphQLError('defect', { originalError })] };
}

/** The status of the first error. */
const statusOf = ({ errors: [error] }: DocumentError) => errorCodes[error?.extensions.code ?? 'INTERNAL'].status;

/** 401, by RFC 6750. */
export function unauthenticated(kind: Bearer['kind']): RequestError {
  const headers = { 'WWW-Authenticate': bearerChallenge(kind) };
  return new RequestError(bearerProblems[kind], { code: 'UNAUTHENTICATED', headers });
}

const jsonMediaType = 'application/json';
const graphqlMediaType = 'application/graphql-response+json';
export const eventStreamMediaType = 'text/event-stream';
const offered = [jsonMediaType, graphqlMediaType].flatMap((type) => [type, `${type}; charset=utf-8`]);

/**
 * Content negotiation (RFC 9110 section 12), and the check of the method.
 * The media type is set on the answer even if the request is refused. Without an Accept header it is `application/json`.
 *
 * @throws {RequestError} the method is not allowed, or no accepted media type is available
 */
export function negotiate(request: IncomingMessage, response: ServerResponse): void {
  const accepted = request.headers.accept ? chooseMediaType(new Negotiator(request)) : jsonMediaType;
  const mediaType = [graphqlMediaType, eventStreamMediaType].find((type) => accepted?.startsWith(type));
  response.setHeader('Content-Type', `${mediaType ?? jsonMediaType}; charset=utf-8`);
  response.setHeader('Cache-Control', 'no-store');
  // Append: CORS has set Vary.
  response.appendHeader('Vary', 'Accept, Accept-Encoding, Authorization');
  if (request.method !== 'GET' && request.method !== 'POST') {
    const headers = { Allow: 'GET, POST' };
    throw new RequestError('Send the operation by POST, or a query by GET.', { status: 405, headers });
  }
  if (!accepted)
    throw new RequestError(`The answer is ${graphqlMediaType} or ${jsonMediaType}; accept one.`, { status: 406 });
}

/** Whether the client accepts event streams. */
export const acceptsEvents = (request: IncomingMessage): boolean =>
  !request.headers.accept || new Negotiator(request).mediaType([eventStreamMediaType]) !== undefined;

/** Chooses an event stream, even for a query, if the client accepts nothing else. */
const chooseMediaType = (negotiator: Negotiator): string | undefined =>
  negotiator.mediaType(offered) ?? negotiator.mediaType([eventStreamMediaType]);

const isOf = (response: ServerResponse, mediaType: string) =>
  String(response.getHeader('Content-Type')).startsWith(mediaType);

export const wantsEvents = (response: ServerResponse): boolean => isOf(response, eventStreamMediaType);

/** Clients of `application/json` distinguish our answers from those of proxies by their status 200. */
const wantsJson = (response: ServerResponse): boolean => isOf(response, jsonMediaType);

/** The answer to a query or mutation as an event stream; a refused request gets JSON. */
function toEventStream(answer: Answer): Answer {
  if (answer.status === 200)
    return { ...answer, body: `event: next\ndata: ${answer.body}\n\nevent: complete\ndata:\n\n` };
  return { ...answer, headers: { ...answer.headers, 'Content-Type': `${graphqlMediaType}; charset=utf-8` } };
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { eventStreamMediaType } from '../stream/eventStream.ts';
import { RequestError } from './request.ts';

const jsonMediaType = 'application/json';
const graphqlMediaType = 'application/graphql-response+json';
const offered = [jsonMediaType, graphqlMediaType].flatMap((type) => [type, `${type}; charset=utf-8`]);

/**
 * Content negotiation (RFC 9110 section 12), and the check of the method.
 * The media type goes into the answer's headers even when the request is refused; without an Accept header it is `application/json`.
 *
 * @throws {RequestError} the method, or none of the media types can be had
 */
export function negotiate(request: IncomingMessage, response: ServerResponse): void {
  const accepted = request.headers.accept ? new Negotiator(request).mediaType(offered) : jsonMediaType;
  const mediaType = accepted?.startsWith(jsonMediaType) ? jsonMediaType : graphqlMediaType;
  response.setHeader('Content-Type', `${mediaType}; charset=utf-8`);
  response.setHeader('Cache-Control', 'no-store');
  // Beside what it depends on already, such as the origin.
  response.appendHeader('Vary', 'Accept, Accept-Encoding, Authorization');
  if (request.method !== 'GET' && request.method !== 'POST') {
    const headers = { Allow: 'GET, POST' };
    throw new RequestError('Send the operation by POST, or a query by GET.', { status: 405, headers });
  }
  if (!accepted && !wantsEvents(request))
    throw new RequestError(`The answer is ${graphqlMediaType} or ${jsonMediaType}; accept one.`, { status: 406 });
}

/** Whether a subscription can be answered. */
export const acceptsEvents = (request: IncomingMessage): boolean =>
  !request.headers.accept || new Negotiator(request).mediaType([eventStreamMediaType]) !== undefined;

/** Whether the client takes nothing but an event stream, also for a query. */
export function wantsEvents(request: IncomingMessage): boolean {
  if (!request.headers.accept) return false;
  const negotiator = new Negotiator(request);
  return !negotiator.mediaType(offered) && negotiator.mediaTypes().includes(eventStreamMediaType);
}

/** By their status 200, clients of `application/json` distinguish answers from those of proxies. */
export function wantsJson(response: ServerResponse): boolean {
  return String(response.getHeader('Content-Type')).startsWith(jsonMediaType);
}

import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { RequestError } from './request.ts';

const jsonMediaType = 'application/json';
export const graphqlMediaType = 'application/graphql-response+json';
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
  // Beside headers that it depends on already, such as the origin.
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
  negotiator.mediaType(offered) ?? negotiator.mediaTypes().find((type) => type === eventStreamMediaType);

const isOf = (response: ServerResponse, mediaType: string) =>
  String(response.getHeader('Content-Type')).startsWith(mediaType);

export const wantsEvents = (response: ServerResponse): boolean => isOf(response, eventStreamMediaType);

/** Clients of `application/json` distinguish our answers from those of proxies by their status 200. */
export const wantsJson = (response: ServerResponse): boolean => isOf(response, jsonMediaType);

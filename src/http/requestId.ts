import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { factsOf } from './facts.ts';

/**
 * Gives the request a name that the answer, the log and the database's `graph.request_id` share: the caller's own
 * X-Request-Id if it is short and plain, else a new UUID.
 */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('X-Request-Id', giveRequestId(request, response));
  next();
}

/** The same without the answer's header. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
  factsOf(response).requestId = id;
  return id;
}

/** The name that it was given. */
export const requestIdOf = (response: ServerResponse): string => factsOf(response).requestId ?? '';

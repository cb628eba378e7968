import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Gives the request a name that the answer, the log and the database's `graph.request_id` share: the caller's own
 * X-Request-Id if it is short and plain, else a new UUID.
 */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  next();
}

/** The name that `nameRequest` gave. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader('X-Request-Id') ?? '');
}

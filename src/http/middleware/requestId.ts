import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fieldsOf, noRequest, type RequestId } from '../../observability/requestFields.ts';
import { isOfAuthzen } from '../requestTarget.ts';

/** Correlation id: X-Request-Id, in each log line, and `graph.request_id` in each transaction. */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('X-Request-Id', giveRequestId(request, response));
  next();
}

/**
 * Sets the id, and returns the value of the answer's header, which the caller sets.
 * AuthZEN requires there what the client sent (section 10.1.3). In log and database such a request has an id of the server, unless the
 * client's is short and plain.
 */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): string {
  const given = String(request.headers['x-request-id'] ?? '');
  const ofServer = randomUUID();
  const id = /^[\w.:-]{1,100}$/.test(given) ? given : ofServer;
  const fields = fieldsOf(response);
  fields.requestId = { id, ofServer };
  return isOfAuthzen(fields.route) && /^[!-~]{1,255}$/.test(given) ? given : id;
}

export const requestIdOf = (response: ServerResponse): RequestId => fieldsOf(response).requestId ?? noRequest;

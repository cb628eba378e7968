import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fieldsOf, noRequest, type RequestId } from '../../observability/requestFields.ts';

/** Correlation id: X-Request-Id, in each log line, and `graph.request_id` in each transaction. */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('X-Request-Id', giveRequestId(request, response).id);
  next();
}

/** Sets the id, but not the answer's header. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): RequestId {
  const given = request.headers['x-request-id'];
  const ofServer = randomUUID();
  const id = typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : ofServer;
  const requestId = { id, ofServer };
  fieldsOf(response).requestId = requestId;
  return requestId;
}

export const requestIdOf = (response: ServerResponse): RequestId => fieldsOf(response).requestId ?? noRequest;

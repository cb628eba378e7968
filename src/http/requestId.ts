import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { factsOf, noRequest, type RequestId } from './facts.ts';

/** Correlation id: the answer's X-Request-Id is in each line of the log and, as `graph.request_id`, in each transaction. */
export function nameRequest(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  response.setHeader('X-Request-Id', giveRequestId(request, response).id);
  next();
}

/** The same without the answer's header. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): RequestId {
  const given = request.headers['x-request-id'];
  const ofServer = randomUUID();
  const id = typeof given === 'string' && /^[\w.:-]{1,100}$/.test(given) ? given : ofServer;
  const requestId = { id, ofServer };
  factsOf(response).requestId = requestId;
  return requestId;
}

/** The one that it was given. */
export const requestIdOf = (response: ServerResponse): RequestId => factsOf(response).requestId ?? noRequest;

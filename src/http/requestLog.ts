import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../log.ts';
import { requestIdOf } from './requestId.ts';

/** One line per request when it is over. Of the URL only the path is written: a query may hold a credential. */
export function logRequests(log: Log) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    const startedAt = performance.now();
    const { method, url = '' } = request;
    response.once('close', () => {
      const facts = {
        requestId: requestIdOf(response),
        method,
        path: url.split('?', 1)[0],
        status: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
      };
      log.info(facts, response.writableFinished ? 'request' : 'request ended by the client');
    });
    next();
  };
}

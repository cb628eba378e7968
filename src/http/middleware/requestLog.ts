import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../log.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { pathOf } from '../requestTarget.ts';
import { requestIdOf } from './requestId.ts';

/**
 * The canonical log line: one for each request, at its end.
 * The URL is logged as its path alone, since a query may hold a credential. The operation is logged as its name, cut to a readable length.
 */
export function logRequests(log: Log) {
  return (request: IncomingMessage, response: ServerResponse, next: () => void): void => {
    if (!log.isLevelEnabled('info')) {
      next();
      return;
    }
    const startedAt = performance.now();
    const { method, url = '' } = request;
    response.once('close', () => {
      const requestId = requestIdOf(response);
      const { operation, clientId, code, reason, statements, server, planningMs, isReplayed, traceId } =
        fieldsOf(response);
      const fields = {
        requestId,
        // The history refers to the request by this id, whatever id the client sent.
        serverRequestId: requestId.ofServer === requestId.id ? undefined : requestId.ofServer,
        method,
        path: pathOf(url),
        status: response.statusCode,
        durationMs: Math.round(performance.now() - startedAt),
        operation: operation?.slice(0, 100),
        clientId,
        code,
        reason,
        statements,
        server,
        isReplayed,
        planningMs: planningMs === undefined ? undefined : Math.round(planningMs),
        traceId,
      };
      log.info(fields, response.writableFinished ? 'request' : 'request ended by the client');
    });
    next();
  };
}

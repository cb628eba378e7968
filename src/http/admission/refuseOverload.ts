import type { IncomingMessage, RequestListener } from 'node:http';
import type { Log } from '../../log.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { type Refusal, refusalFor } from '../answerErrors.ts';
import { exposedHeaders, isAllowed, type Origin } from '../middleware/allowOrigins.ts';
import { giveRequestId } from '../middleware/requestId.ts';
import { logRequests } from '../middleware/requestLog.ts';
import { securityHeaders } from '../middleware/securityHeaders.ts';

type RefusalOptions = { log: Log; isHttps: boolean; corsOrigins: readonly Origin[] };

/**
 * Load shedding's answer: 503 in the form of the route.
 * It has the headers of every answer, written at once. In an overload this is the service's most frequent work, and the handlers of
 * other requests would delay it (`bench overload`).
 */
export function createRefusal({ log, isHttps, corsOrigins }: RefusalOptions): RequestListener {
  const logRequest = logRequests(log);
  const ownHeaders = Object.fromEntries(securityHeaders(isHttps));
  return (request, response) => {
    const { accept = '', origin = '' } = request.headers;
    const { type, body } = refusalFor(fieldsOf(response).route, accept, overload);
    const id = giveRequestId(request, response);
    logRequest(request, response, () => undefined);
    response.writeHead(503, {
      ...ownHeaders,
      'X-Request-Id': id,
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(body),
      'Retry-After': '2',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      ...(corsOrigins.length > 0 && { Vary: 'Origin' }),
      ...(isAllowed(corsOrigins, origin) && {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders.join(),
      }),
      // Otherwise the rest of a large body would have to be read before the next request.
      ...(isLarge(request) && { Connection: 'close' }),
    });
    response.end(body);
  };
}

const overload: Refusal = {
  code: 'UNAVAILABLE',
  error: 'temporarily_unavailable',
  description: 'There are too many requests at the moment; try again later.',
};

const isLarge = ({ headers }: IncomingMessage) =>
  'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 65_536;

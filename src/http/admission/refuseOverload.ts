import type { IncomingMessage, RequestListener } from 'node:http';
import type { Log } from '../../log.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { exposedHeaders, isAllowed, type Origin } from '../middleware/allowOrigins.ts';
import { giveRequestId } from '../middleware/requestId.ts';
import { logRequests } from '../middleware/requestLog.ts';
import { securityHeaders } from '../middleware/securityHeaders.ts';
import { isOfAuthzen } from '../requestTarget.ts';

type RefusalOptions = { log: Log; isHttps: boolean; corsOrigins: readonly Origin[] };

/**
 * Load shedding's answer: 503 as GraphQL, as OAuth (RFC 6749 section 5.2), or as a text for AuthZEN and pages.
 * It has the headers of every answer, written at once. In an overload this is the service's most frequent work, and the handlers of
 * other requests would delay it (`bench overload`).
 */
export function createRefusal({ log, isHttps, corsOrigins }: RefusalOptions): RequestListener {
  const logRequest = logRequests(log);
  const ownHeaders = Object.fromEntries(securityHeaders(isHttps));
  return (request, response) => {
    const { accept = '', origin = '' } = request.headers;
    const { type, body } = answerFor(fieldsOf(response).route, accept);
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

function answerFor(route: string | undefined, accept: string) {
  if (route === '/graphql')
    return { type: accept.includes(graphqlMediaType) ? graphqlMediaType : 'application/json', body: graphqlBody };
  if (isOfAuthzen(route) || accept.includes('text/html')) return { type: 'text/plain', body: description };
  return { type: 'application/json', body: oauthBody };
}

const graphqlMediaType = 'application/graphql-response+json';
const description = 'There are too many requests at the moment; try again later.';
const graphqlBody = JSON.stringify({ errors: [{ message: description, extensions: { code: 'UNAVAILABLE' } }] });
const oauthBody = JSON.stringify({ error: 'temporarily_unavailable', error_description: description });

const isLarge = ({ headers }: IncomingMessage) =>
  'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 65_536;

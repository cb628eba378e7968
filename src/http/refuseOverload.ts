import type { IncomingMessage, ServerResponse } from 'node:http';
import { isGraphql } from './isGraphql.ts';

/**
 * 503 for a request that was never looked at, in the words of what it asked: of GraphQL, of OAuth (RFC 6749 section 5.2), or of
 * a page. Written without the framework, since this is what the service does most when it has no time.
 */
export function refuseOverload(request: IncomingMessage, response: ServerResponse): void {
  const { type, body } = answerFor(request);
  response.writeHead(503, {
    'Content-Type': `${type}; charset=utf-8`,
    'Content-Length': Buffer.byteLength(body),
    'Retry-After': '2',
    'Cache-Control': 'no-store',
    Pragma: 'no-cache',
    // Of a large body nobody wants to read the rest, which would have to be before the next request.
    ...(isLarge(request) && { Connection: 'close' }),
  });
  response.end(body);
}

function answerFor(request: IncomingMessage) {
  const { accept = '' } = request.headers;
  if (isGraphql(request)) {
    return { type: accept.includes(graphqlMediaType) ? graphqlMediaType : 'application/json', body: graphqlBody };
  }
  if (accept.includes('text/html')) return { type: 'text/plain', body: description };
  return { type: 'application/json', body: oauthBody };
}

const graphqlMediaType = 'application/graphql-response+json';
const description = 'There are too many requests at the moment; try again later.';
const graphqlBody = JSON.stringify({ errors: [{ message: description, extensions: { code: 'UNAVAILABLE' } }] });
const oauthBody = JSON.stringify({ error: 'temporarily_unavailable', error_description: description });

const isLarge = ({ headers }: IncomingMessage) =>
  'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 65_536;

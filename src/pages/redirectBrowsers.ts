import Negotiator from 'negotiator';
import type { Handler } from '../http/middleware.ts';

/**
 * Redirects a browser that opens `/graphql` to a page, by content negotiation (RFC 9110 section 12).
 * A client of the API is not redirected: it sends a query, or accepts JSON as readily.
 *
 * @param location of the page; null when it is off
 */
export function redirectBrowsers(location: string | null): Handler {
  return (request, response, next) => {
    const isOpened = request.method === 'GET' && !request.url?.includes('?');
    if (location === null || !isOpened || new Negotiator(request).mediaType(offered) !== 'text/html') return next();
    response.appendHeader('Vary', 'Accept');
    response.writeHead(303, { Location: location, 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
  };
}

const offered = ['application/json', 'application/graphql-response+json', 'text/html'];

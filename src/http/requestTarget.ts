import type { IncomingMessage } from 'node:http';

// Request target (RFC 9112 section 3.2): in origin form, or in absolute form as some proxies send it. It may hold a password before
// its host, and one of a careless client has a fragment.

/** The path as it was sent. */
export const pathOf = (url: string): string =>
  url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? '';

/**
 * The route label of metrics and traces: a path that is served, in its one spelling, or `other`.
 * So a client cannot create labels (cardinality). Express takes paths in any case, with or without a slash at the end; so does this.
 */
export function routeOf(url: string): string {
  const path = pathOf(url).slice(0, longestRoute + 2);
  const route = path.toLowerCase().replace(/(?<=.)\/$/, '');
  if (routes.has(route)) return route;
  return route.startsWith('/assets/') ? '/assets' : 'other';
}

export const isGraphql = ({ url = '' }: IncomingMessage): boolean => routeOf(url) === '/graphql';

export const isHealthCheck = ({ url = '' }: IncomingMessage): boolean => ['/healthz', '/readyz'].includes(routeOf(url));

/** Each that answers; a test compares them with the mounts. */
export const routes: ReadonlySet<string> = new Set([
  '/',
  '/healthz',
  '/readyz',
  '/graphql',
  '/graphql/schema.graphql',
  '/oauth/authorize',
  '/oauth/sign-in',
  '/oauth/sign-out',
  '/oauth/token',
  '/oauth/token/info',
  '/oauth/revoke',
  '/oauth/introspect',
  '/.well-known/oauth-authorization-server',
  '/graphiql',
  '/playground',
  '/documentations/graphql',
]);

const longestRoute = Math.max(...[...routes].map((route) => route.length));

/**
 * The route label of metrics and traces: a path that is served, in its one spelling, or `other`.
 * So a client cannot create labels (cardinality). Express takes paths in any case, with or without a slash at the end; so does this.
 */
export function routeOf(url: string): string {
  const path = url.slice(0, longestPath + 2).split('?', 1)[0] ?? '';
  const plain = path.toLowerCase().replace(/(?<=.)\/$/, '');
  if (routes.has(plain)) return plain;
  return plain.startsWith('/assets/') ? '/assets' : 'other';
}

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

const longestPath = Math.max(...[...routes].map((route) => route.length));

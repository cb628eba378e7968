// Request target (RFC 9112 section 3.2): in origin form, or in absolute form as some proxies send it. It may hold a password before its
// host, and a careless client may add a fragment.

/** The path as it was sent. */
export const pathOf = (url: string): string =>
  url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? '';

/** The one spelling of a path, which Express accepts in any case, with or without a slash at the end. */
const spellingOf = (url: string): string =>
  pathOf(url)
    .toLowerCase()
    .replace(/(?<=.)\/$/, '');

/**
 * The route label of metrics and traces: a path that is served, or `other`.
 * So a client cannot create labels (cardinality).
 */
export function createRouteOf(pages: readonly string[]): (url: string) => string {
  const routes = new Set([...apiRoutes, ...pages]);
  return (url) => {
    const path = spellingOf(url);
    if (routes.has(path)) return path;
    const page = pages.find((it) => path.startsWith(`${it}/`));
    if (page) return page;
    return path.startsWith('/assets/') ? '/assets' : 'other';
  };
}

/** Whether the route is one of AuthZEN's, whose refusals are a message as the body, and whose clients choose any id of a request. */
export const isOfAuthzen = (route: string | undefined): boolean => route?.startsWith('/access/') ?? false;

/** Each API route that answers; a test compares them with the mounts. */
export const apiRoutes: readonly string[] = [
  '/',
  '/healthz',
  '/readyz',
  '/graphql',
  '/graphql/schema.graphql',
  '/access/v1/evaluation',
  '/access/v1/evaluations',
  '/oauth/authorize',
  '/oauth/sign-in',
  '/oauth/sign-out',
  '/oauth/token',
  '/oauth/token/info',
  '/oauth/revoke',
  '/oauth/introspect',
  '/.well-known/oauth-authorization-server',
  '/.well-known/authzen-configuration',
];

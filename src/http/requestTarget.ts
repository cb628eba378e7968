import type { IncomingMessage } from 'node:http';

// Request target (RFC 9112 section 3.2): in origin form, or in absolute form as some proxies send it. It may hold a password before its
// host, and a careless client may add a fragment.

/** The path as it was sent. */
export const pathOf = (url: string): string =>
  url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? '';

/**
 * Whether a request names one valid host (RFC 9112 section 3.2): otherwise a proxy and the service could act on different ones.
 * Only HTTP/1.0 needs none. A target in absolute form has to name the same host.
 */
export function hasOneHost({ rawHeaders, headers: { host }, httpVersion, url = '' }: IncomingMessage): boolean {
  if (host === undefined) return httpVersion === '1.0';
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (count > 1 || !hostAndPort.test(host)) return false;
  const [, scheme, authority] = /^([a-z][a-z\d+.-]*:)\/\/([^/?#]*)/i.exec(url) ?? [];
  if (scheme === undefined) return true;
  const named = URL.parse(`${scheme}//${authority}`)?.host;
  return named !== undefined && named === URL.parse(`${scheme}//${host}`)?.host;
}

/** RFC 3986 section 3.2.2, not empty. */
const hostAndPort = /^(\[[\da-f:.]+\]|([\w.~!$&'()*+,;=-]|%[\da-f]{2})+)(:\d*)?$/i;

/** The one spelling of a path, which Express accepts in any case, with or without a slash at the end. */
export const spellingOf = (url: string): string =>
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

/** Whether the path is GraphQL's or below it: its refusals are `errors`. */
export const isOfGraphql = (path: string | undefined): boolean => /^\/graphql(\/|$)/.test(path ?? '');

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

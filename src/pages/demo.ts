import type { Request } from 'express';
import type { Config } from '../config.ts';

/** Credentials of the demo organization. */
export type DemoAccess = {
  /** The secret of its application `demo-backend`, with scope `app`. */
  readonly clientSecret: string;
  /** The password of its people. */
  readonly password: string;
};

/** Somebody of the demo, with the token request that signs them in (RFC 6749 sections 4.3 and 4.4). */
export type DemoPrincipal = { readonly label: string; readonly request: Readonly<Record<string, string>> };

/** Whom GraphiQL signs in with one choice; the first is signed in from the start. */
export function demoPrincipals({ clientSecret, password }: DemoAccess): readonly DemoPrincipal[] {
  const backend = { grant_type: 'client_credentials', client_id: 'demo-backend', client_secret: clientSecret };
  return [
    { label: 'Demo Backend', request: backend },
    { label: 'Demo Backend, scope basic alone', request: { ...backend, scope: 'basic' } },
    ...Object.entries(people).map(([username, label]) => {
      return { label, request: { grant_type: 'password', client_id: 'demo-mobile', username, password } };
    }),
  ];
}

const people = {
  'ada@demo.test': 'Ada Lovelace',
  'grace@demo.test': 'Grace Hopper',
  'konrad@demo.test': 'Konrad Zuse',
  'emmy@demo.test': 'Emmy Noether',
};

/**
 * Whether a request may get the demo's credentials.
 * It must come from this machine, to a name of this machine, and through no proxy. If a web site's name resolves to this machine, the
 * request has that name. There is no list of what proxies send, so a header that neither a browser nor its page sends counts as a proxy's.
 */
export function isFromThisMachine({ publicUrl, host }: Config, request: Request): boolean {
  return (
    publicUrl === undefined &&
    isLoopback(host) &&
    isLoopback(request.socket.remoteAddress?.replace('::ffff:', '')) &&
    isLoopback(URL.parse(`http://${request.headers.host}`)?.hostname) &&
    // Some proxies, such as nginx by default, speak HTTP/1.0 to a server, and add nothing.
    request.httpVersion === '1.1' &&
    Object.keys(request.headers).every((name) => browserHeaders.test(name))
  );
}

const isLoopback = (host: string | undefined) =>
  host !== undefined && ['127.0.0.1', '::1', '[::1]', 'localhost'].includes(host);

/** Beside `accept-…`, `content-…`, `if-…` and `sec-…`. */
const browserHeaders = new RegExp(
  '^((accept|content|if|sec)-.*|accept|authorization|available-dictionary|cache-control|connection|cookie|device-memory|dnt|downlink|' +
    'dpr|ect|host|keep-alive|origin|pragma|priority|purpose|range|referer|rtt|save-data|te|transfer-encoding|' +
    'upgrade-insecure-requests|user-agent|viewport-width|width|x-requested-with)$',
);

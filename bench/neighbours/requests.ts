import type { Sent } from './createSender.ts';
import type { Written } from './shape.ts';

const types = {
  'Content-Type': 'application/json',
  Accept: 'application/graphql-response+json, text/event-stream',
};

/** A request as a shape writes it; `clientSecret` is for its forms. */
export function requestOf(written: Written, token: string | null, clientSecret: string): Sent {
  if ('form' in written) return form({ ...written.form, client_secret: clientSecret });
  if ('path' in written) return { ...written, headers: { ...bearer(token), ...written.headers } };
  if ('body' in written) return graphql(written.body, token);
  const { query, variables, headers } = written;
  return graphql(JSON.stringify({ query, variables }), token, headers);
}

/** A request to `/graphql` with this body. */
export function graphql(body: string, token: string | null, headers: Readonly<Record<string, string>> = {}): Sent {
  return { path: '/graphql', headers: { ...types, ...headers, ...bearer(token) }, body };
}

const bearer = (token: string | null): Record<string, string> =>
  token === null ? {} : { Authorization: `Bearer ${token}` };

/** A request for a token. */
export function form(values: Readonly<Record<string, string>>): Sent {
  return {
    path: '/oauth/token',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams(values)}`,
  };
}

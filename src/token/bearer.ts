import type { IncomingMessage } from 'node:http';

/** The bearer token of a request's Authorization headers. */
export type Bearer =
  | { readonly kind: 'token'; readonly token: string }
  /** No Authorization header, or one of another scheme. */
  | { readonly kind: 'missing' }
  /** The scheme is Bearer but no token follows, or there is more than one header. */
  | { readonly kind: 'malformed' }
  /** `Bearer <ACCESS_TOKEN>`, as printed in the documentation. */
  | { readonly kind: 'placeholder' };

/**
 * Reads the bearer token of a request (RFC 6750 section 2.1).
 * There must be exactly one header `Authorization: Bearer <b64token>`, the scheme in any case. A token in a body or query is never read.
 */
export function readBearer(request: IncomingMessage): Bearer {
  const headers = request.headersDistinct.authorization ?? [];
  const [header] = headers;
  if (header === undefined) return { kind: 'missing' };
  if (headers.length > 1) return { kind: 'malformed' };
  if (!/^bearer(?: |$)/i.test(header)) return { kind: 'missing' };
  const token = /^bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
  if (token !== undefined) return { kind: 'token', token };
  return { kind: /^bearer +<[^<>]*>$/i.test(header) ? 'placeholder' : 'malformed' };
}

/**
 * The value of `WWW-Authenticate` for a 401 (RFC 6750 section 3).
 * It has no error code when the request carried no bearer token at all, else `invalid_token`.
 */
export function bearerChallenge(kind: Bearer['kind']): string {
  const realm = 'Bearer realm="graph-query-service"';
  if (kind === 'missing') return realm;
  return `${realm}, error="invalid_token", error_description="${bearerProblems[kind]}"`;
}

/** The same problems in words for a client's developer. */
export const bearerProblems = {
  token: 'The access token is unknown, expired or revoked.',
  missing: 'This needs an access token: send the header Authorization: Bearer <access token>.',
  malformed: 'Send exactly one header Authorization: Bearer <access token>.',
  placeholder: 'Replace <ACCESS_TOKEN>, with its angle brackets, by an access token: POST /oauth/token issues them.',
};

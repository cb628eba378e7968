import type { IncomingMessage } from 'node:http';
import { invalidClient, invalidRequest } from '../errors.ts';
import { decode, type Parameters } from '../form.ts';

/** The credentials that a client sent. Without a secret it only gave its id. */
export type ClientCredentials = { readonly clientId: string; readonly secret: string | null };

/**
 * Decides once by which method the client authenticates (RFC 6749 section 2.3).
 * The methods are HTTP Basic, secret in the body, or none. If one fails, no other is tried.
 *
 * @throws {OAuthError} invalid_request for two methods at once, invalid_client for none or one that is not supported
 */
export function readClientCredentials(request: IncomingMessage, parameters: Parameters): ClientCredentials {
  const headers = request.headersDistinct.authorization ?? [];
  const [header] = headers;
  if (headers.length > 1) throw invalidRequest('Send one Authorization header.');
  if (header === undefined) {
    if (parameters.client_id === undefined) throw invalidClient('client_id is missing');
    return { clientId: parameters.client_id, secret: parameters.client_secret ?? null };
  }

  if (parameters.client_secret !== undefined) {
    throw invalidRequest('The client authenticates twice: use HTTP Basic or client_secret, not both.');
  }
  const basic = readBasic(header);
  if (parameters.client_id !== undefined && parameters.client_id !== basic.clientId) {
    throw invalidRequest('client_id is not the client of the Authorization header.');
  }
  return basic;
}

/**
 * RFC 7617, with both parts form-encoded before (RFC 6749 section 2.3.1).
 * An empty secret is none, as in the body (section 3.2): Go's OAuth client sends one for a public client.
 */
function readBasic(header: string): ClientCredentials {
  const encoded = /^basic +([a-z\d+/_-]+=*)$/i.exec(header)?.[1];
  if (encoded === undefined) throw invalidClient('the Authorization header is not HTTP Basic');
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  if (id === undefined || secret === undefined) throw invalidClient('HTTP Basic without a colon');
  try {
    return { clientId: decode(id), secret: decode(secret) || null };
  } catch {
    // RFC 6749 section 5.2: a failure in the Authorization header is answered with 401.
    throw invalidClient('HTTP Basic is not form-encoded UTF-8');
  }
}

import type { Check } from '../check.ts';
import type { Application } from '../client/application.ts';
import { invalidRequest, OAuthError } from '../errors.ts';
import { matchesRedirectUri } from './matchesRedirectUri.ts';

/** The parameters of the authorization endpoint, in the query or in a form. */
export const authorizationParameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

export type AuthorizationParameters = { readonly [name in (typeof authorizationParameters)[number]]?: string };

export type AskedBy = {
  readonly client_id?: string;
  readonly redirect_uri?: string;
  readonly application: Application | null;
};

/**
 * Checks whose refusal is a page for the person, in this order.
 * Before they pass, nothing is redirected: the address may be an attacker's (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11).
 */
export const clientChecks: readonly Check<AskedBy>[] = [
  [
    'RFC 6749 section 4.1.1',
    ({ client_id }) => client_id !== undefined,
    () => invalidRequest('The application did not say who it is: client_id is missing.'),
  ],
  [
    'RFC 6749 section 4.1.2.1',
    ({ application }) => application !== null,
    () => invalidRequest('The application is not known here: no enabled application has this client_id.'),
  ],
  [
    'RFC 6749 section 3.1.2.3',
    ({ redirect_uri }) => redirect_uri !== undefined,
    () => invalidRequest('The application did not say where to return to: redirect_uri is missing.'),
  ],
  [
    'RFC 6749 section 3.1.2.4, RFC 9700 section 4.1.3',
    ({ application, redirect_uri = '' }) => matchesRedirectUri(application?.redirectUris ?? [], redirect_uri),
    () =>
      invalidRequest('The application has not registered the address to return to: redirect_uri must match exactly.'),
  ],
];

/** Checks whose refusal redirects to the client, in this order; the scope comes last (`grantedScopes`). */
export const requestChecks: readonly Check<AuthorizationParameters>[] = [
  [
    'RFC 6749 section 3.1.1',
    ({ response_type }) => response_type !== undefined,
    () => invalidRequest('response_type is missing.'),
  ],
  [
    'RFC 6749 section 3.1.1, RFC 9700 section 2.1.2: no token in an address',
    ({ response_type }) => response_type === 'code',
    () => new OAuthError('unsupported_response_type', 'response_type must be code.'),
  ],
  [
    'OAuth 2.0 Multiple Response Types section 2.1',
    ({ response_mode }) => response_mode === undefined || response_mode === 'query',
    () => invalidRequest('response_mode must be query.'),
  ],
  [
    'RFC 7636 section 4.4.1, RFC 9700 section 2.1.1: required of every client',
    ({ code_challenge }) => code_challenge !== undefined,
    () => invalidRequest('code_challenge is missing: this server requires PKCE.'),
  ],
  [
    'RFC 7636 section 4.3: without a method it would be plain',
    ({ code_challenge_method }) => code_challenge_method === 'S256',
    () => invalidRequest('code_challenge_method must be S256.'),
  ],
  [
    'RFC 7636 section 4.2: SHA-256 in base64url',
    ({ code_challenge = '' }) => /^[\w-]{43}$/.test(code_challenge),
    () => invalidRequest('code_challenge must be 43 characters of base64url.'),
  ],
];

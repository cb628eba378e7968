import type { Request, RequestHandler } from 'express';
import type { Pool, PoolClient } from 'pg';
import { onlyRow } from '../../database/pool/transactions.ts';
import { requestIdOf } from '../../http/middleware.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { hashToken, isToken, readBearer } from '../../token/accessTokens.ts';
import type { Scope } from '../../token/scopes.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { authenticateClient, requireClient } from '../client.ts';
import { invalidClient, invalidRequest, invalidScope, OAuthError } from '../errors.ts';
import { type Check, type Parameters, refuse } from '../form.ts';
import type { Grant } from '../grants/grant.ts';
import { grantOf, grantTypes } from '../grants/grants.ts';
import { inOrganization } from '../inOrganization.ts';
import { parseScope } from './issueTokens.ts';
import { authenticateBearer, invalidToken, requireClaims } from './revoke.ts';

/** The id by which clients know a user. */
export type UserIdOf = (uuid: string) => string;

/**
 * `POST /oauth/introspect` (RFC 7662), about the tokens of the caller's own organization.
 * Confidential clients may call it, and bearers of an application's own token. Any other token yields `{"active":false}`, whatever the
 * reason.
 */
export function introspect(pool: Pool, userIdOf: UserIdOf): RequestHandler {
  return async (request, response) => {
    const { token } = request.body;
    if (token === undefined) throw invalidRequest('token is missing.');
    const { organizationId, applicationId } = callerOf(request);
    const live = await inOrganization(pool, organizationId, requestIdOf(response), (database) =>
      findLiveToken(database, token, applicationId),
    );
    response.json(live ? describeLiveToken(live, userIdOf) : { active: false });
  };
}

/** RFC 7662 section 2.1: a bearer token, or credentials as at the token endpoint. */
export function authenticateCaller(pool: Pool): RequestHandler {
  const byBearer = authenticateBearer(pool);
  const byClient = authenticateClient(pool);
  return (request, response, next) => {
    if (readBearer(request).kind === 'missing') return byClient(request, response, next);
    if (request.body.client_secret !== undefined)
      throw invalidRequest('Send a bearer token or client_secret, not both.');
    return byBearer(request, response, next);
  };
}

type Caller = { readonly organizationId: string; readonly applicationId: string };

function callerOf(request: Request): Caller {
  if (request.oauthClaims) {
    const claims = requireClaims(request);
    // 401 rather than 403: RFC 7662 section 2.3.
    if (claims.userId !== null) throw invalidToken('token', 'a token of a user may not introspect others');
    return claims;
  }
  const { application, authentication } = requireClient(request);
  if (authentication === 'none')
    throw invalidClient('the client did not authenticate, and only who did may introspect');
  return { organizationId: application.organizationId, applicationId: application.id };
}

/** RFC 7662 section 2.2. */
function describeLiveToken(live: LiveToken, userIdOf: UserIdOf) {
  return {
    active: true,
    scope: live.scopes.join(' '),
    client_id: live.client_id,
    token_type: live.kind === 'access' ? 'bearer' : 'refresh_token',
    exp: live.expires_at,
    iat: live.issued_at,
    sub: live.user_id === null ? live.client_id : userIdOf(live.user_id),
  };
}

/** `GET /oauth/token/info`: rights and lifetime of the request's bearer token, in Doorkeeper's words. */
export function describeBearer(pool: Pool, userIdOf: UserIdOf): RequestHandler {
  return async (request, response) => {
    const claims = requireClaims(request);
    response.json({
      resource_owner_id: claims.userId === null ? null : userIdOf(claims.userId),
      scope: claims.scopes,
      expires_in: await secondsUntil(pool, claims.expiresAt, requestIdOf(response)),
      application: { uid: claims.clientId },
      created_at: Math.floor(claims.createdAt.getTime() / 1000),
    });
  };
}

/** By the database's clock, from which every time of a token comes. */
async function secondsUntil(pool: Pool, time: Date, requestId: RequestId): Promise<number> {
  const result = await queryOnce<{ seconds: number }>(pool, oauthSettings(null, requestId), {
    name: 'seconds_until',
    text: 'select ceil(extract(epoch from $1::timestamptz - clock_timestamp()))::float8 as seconds',
    values: [time],
  });
  return onlyRow(result).seconds;
}

/** A token that can be used now. */
type LiveToken = {
  readonly kind: 'access' | 'refresh';
  readonly client_id: string;
  /** Null for an application's own token. */
  readonly user_id: string | null;
  readonly scopes: readonly Scope[];
  /** Unix time in whole seconds, as `expires_at`. */
  readonly issued_at: number;
  readonly expires_at: number;
};

/**
 * The rights of this token now, in the transaction's organization, or null.
 * Null if it is unknown, malformed, expired, used, revoked or of another organization, or its user or application is disabled. A refresh
 * token is only for its own application.
 */
async function findLiveToken(database: PoolClient, token: string, applicationId: string): Promise<LiveToken | null> {
  if (isToken('access', token)) return find(database, 'access', [hashToken(token)]);
  if (isToken('refresh', token)) return find(database, 'refresh', [hashToken(token), applicationId]);
  return null;
}

async function find(database: PoolClient, kind: LiveToken['kind'], values: unknown[]): Promise<LiveToken | null> {
  const { rows } = await database.query<Omit<LiveToken, 'kind'>>({
    name: `find_live_${kind}_token`,
    text: `
      select client_id, user_id, scopes,
        floor(extract(epoch from created_at))::float8 as issued_at,
        floor(extract(epoch from expires_at))::float8 as expires_at
      from (${sources[kind]}) as live`,
    values,
  });
  return rows[0] ? { kind, ...rows[0] } : null;
}

const sources = {
  // The function defines when a token is live; it reads every organization.
  access: `
    select client_id, user_id, scopes, created_at, expires_at
    from oauth.verify_access_token($1)
    where organization_id = (select app_hidden.current_organization_id())`,
  refresh: `
    select a.client_id, g.user_id, t.scopes, t.created_at, t.expires_at
    from oauth.refresh_tokens t
    join oauth.grants g on g.organization_id = t.organization_id and g.id = t.grant_id
    join oauth.applications a on a.organization_id = g.organization_id and a.id = g.application_id
    where t.token_hash = $1 and t.used_at is null and t.expires_at > clock_timestamp()
      and a.id = $2 and a.disabled_at is null
      and not exists (select from oauth.credentials c where c.user_id = g.user_id and c.disabled_at is not null)`,
} as const;

/**
 * Checks of `POST /oauth/token` for every client, in this order.
 * Parameters are checked before the application's type, so that a client first gets the error that it can fix in its request.
 */
export const refuseBadParameters: RequestHandler = ({ body }, _response, next) => {
  const grant = requireGrant(body);
  refuse([...(grant.checks ?? []), ...parameterChecks(grant), scopeCheck(grant)], body);
  next();
};

/** Checks whether the grant is open to this client; `authenticateClient` has run. */
export const refuseWrongClient: RequestHandler = (request, _response, next) => {
  refuse(requireGrant(request.body).clientChecks ?? [], requireClient(request));
  next();
};

/** The grant that a request is for (RFC 6749 section 5.2). @throws {OAuthError} when it names none */
function requireGrant(parameters: Parameters): Grant {
  const grant = grantOf(parameters);
  if (grant) return grant;
  if (parameters.grant_type === undefined)
    throw invalidRequest('grant_type is missing: send it form-encoded in the body.');
  throw new OAuthError('unsupported_grant_type', `grant_type must be one of ${grantTypes.join(', ')}.`);
}

const parameterChecks = (grant: Grant) =>
  Object.entries(grant.parameters).map(
    ([name, source]): Check<Parameters> => [
      source,
      (parameters) => parameters[name] !== undefined,
      () => invalidRequest(`${name} is missing.`),
    ],
  );

const scopeCheck = (grant: Grant): Check<Parameters> => [
  'RFC 6749 section 3.3; an application in its own name is no person, a person is no application',
  ({ scope }) => (parseScope(scope) ?? []).every((word) => grant.scopes.includes(word)),
  () => invalidScope('This grant type cannot give that scope.'),
];

import type { Request, RequestHandler } from 'express';
import type { Pool, PoolClient } from 'pg';
import { requestIdOf } from '../../http/middleware.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { identifyCaller } from '../../scheduling/caller.ts';
import {
  type Bearer,
  bearerChallenge,
  bearerProblems,
  hashToken,
  isToken,
  readBearer,
  verifyBearer,
} from '../../token/accessTokens.ts';
import type { Claims } from '../../token/settings.ts';
import { type Client, requireClient } from '../client.ts';
import { invalidClient, invalidRequest, OAuthError } from '../errors.ts';
import { inOrganization } from '../inOrganization.ts';

/**
 * `POST /oauth/revoke` (RFC 7009): ends the grant of a token of this client, with all its tokens.
 * The token may be an access or a refresh token. An unknown or another client's token also yields 200, and stays as it is.
 */
export function revoke(pool: Pool): RequestHandler {
  return async (request, response) => {
    const client = requireClient(request);
    const { token } = request.body;
    if (token === undefined) throw invalidRequest('token is missing.');
    if (isToken('access', token) || isToken('refresh', token)) await endGrantOf(pool, client, token);
    response.json({});
  };
}

/** `DELETE /oauth/token`: ends the grant of the bearer token that the request carries. */
export function revokeBearer(pool: Pool): RequestHandler {
  return async (request, response) => {
    const { organizationId, grantId } = requireClaims(request);
    await inOrganization(pool, organizationId, requestIdOf(response), (database) => revokeGrant(database, grantId));
    response.json({});
  };
}

async function endGrantOf(pool: Pool, client: Client, token: string): Promise<void> {
  const { application, requestId } = client;
  await inOrganization(pool, application.organizationId, requestId, async (database) => {
    const grant = await findGrant(database, application.id, token);
    if (!grant) return;
    // As for renewal: a client that got the grant with a secret must show a secret.
    if (grant.client_authentication === 'secret' && client.authentication === 'none')
      throw invalidClient('the grant was given to the client with its secret, which is missing');
    await revokeGrant(database, grant.id);
  });
}

type GrantRow = { id: string; client_authentication: Client['authentication'] };

async function findGrant(database: PoolClient, applicationId: string, token: string): Promise<GrantRow | undefined> {
  const { rows } = await database.query<GrantRow>({
    name: 'find_grant_of_token',
    text: `
      select g.id, g.client_authentication
      from oauth.grants g
      where g.application_id = $1 and g.id in (
        select grant_id from oauth.access_tokens where token_hash = $2
        union all
        select grant_id from oauth.refresh_tokens where token_hash = $2)`,
    values: [applicationId, hashToken(token)],
  });
  return rows[0];
}

/** Revokes a grant with all its tokens, from the next request on, on every node. Idempotent. */
export async function revokeGrant(database: PoolClient, grantId: string): Promise<void> {
  await database.query({ name: 'end_grant', text: 'delete from oauth.grants where id = $1', values: [grantId] });
}

/** Sets `request.oauthClaims` from the bearer token in the header, or refuses with 401 (RFC 6750). */
export function authenticateBearer(pool: Pool): RequestHandler {
  return async (request, response, next) => {
    const bearer = readBearer(request);
    const claims = bearer.kind === 'token' ? await verifyBearer(pool, bearer.token, requestIdOf(response)) : null;
    if (!claims) throw invalidToken(bearer.kind);
    request.oauthClaims = claims;
    fieldsOf(response).clientId = claims.clientId;
    identifyCaller(claims.organizationId);
    next();
  };
}

/** The claims that `authenticateBearer` has set. @throws {OAuthError} 401 where it did not run */
export function requireClaims({ oauthClaims }: Request): Claims {
  if (!oauthClaims) throw invalidToken('missing');
  return oauthClaims;
}

/** A 401 with the challenge for the kind of credential that was sent. */
export function invalidToken(kind: Bearer['kind'], reason = bearerProblems[kind]): OAuthError {
  return new OAuthError('invalid_token', bearerProblems[kind], {
    status: 401,
    reason,
    headers: { 'WWW-Authenticate': bearerChallenge(kind) },
  });
}

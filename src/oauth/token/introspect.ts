import type { Request, RequestHandler } from 'express';
import type { Pool } from 'pg';
import { requestIdOf } from '../../http/middleware.ts';
import { readBearer } from '../../token/bearer.ts';
import { authenticateBearer, invalidToken, requireClaims } from '../authenticateBearer.ts';
import { authenticateClient, requireClient } from '../client/authenticateClient.ts';
import { invalidClient, invalidRequest } from '../errors.ts';
import { inOrganization } from '../inOrganization.ts';
import { findLiveToken, type LiveToken } from './liveToken.ts';

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
    response.json(live ? describe(live, userIdOf) : { active: false });
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
function describe(live: LiveToken, userIdOf: UserIdOf) {
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

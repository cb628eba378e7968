import type { Request, RequestHandler } from 'express';
import type { Pool } from 'pg';
import { requestIdOf } from '../http/middleware.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { identifyCaller } from '../scheduling/caller.ts';
import { type Bearer, bearerChallenge, bearerProblems, readBearer, verifyBearer } from '../token/accessTokens.ts';
import type { Claims } from '../token/settings.ts';
import { OAuthError } from './errors.ts';

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

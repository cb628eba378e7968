import type { Pool } from 'pg';
import type { RequestId } from '../observability/requestFields.ts';
import type { Claims } from './claims.ts';
import { hashToken, isToken } from './format.ts';
import { oauthSettings } from './settings.ts';
import { queryOnce } from './transaction.ts';

/**
 * Verifies an access token uncached: a revocation takes effect with the next request, everywhere.
 * Null when it is unknown, malformed, expired or revoked, or its application or user is disabled or gone.
 *
 * @throws when the database does not answer
 */
export async function verifyBearer(pool: Pool, token: string, requestId: RequestId): Promise<Claims | null> {
  return isToken('access', token) ? verifyTokenHash(pool, hashToken(token), requestId) : null;
}

/**
 * Verifies a token by its hash, the only form that the database stores.
 *
 * @throws a database error for which `hasMoved` holds when the token's organization is not served here
 */
export async function verifyTokenHash(pool: Pool, hash: Buffer, requestId: RequestId): Promise<Claims | null> {
  const { rows } = await queryOnce<Claims>(pool, oauthSettings(null, requestId), {
    name: 'verify_access_token',
    text: `select ${claimColumns} from ${claimSource}`,
    values: [hash],
  });
  return rows[0] ?? null;
}

/** The claims of the token whose hash is the first parameter. Fails if its organization is not served here. */
export const claimSource = 'oauth.verify_access_token($1) as token, app_hidden.require_service(token.organization_id)';

/** The columns of `oauth.verify_access_token`, by the names of {@link Claims}. */
export const claimColumns = `
  organization_id as "organizationId", application_id as "applicationId", client_id as "clientId", user_id as "userId",
  grant_id as "grantId", scopes, created_at as "createdAt", expires_at as "expiresAt"`;

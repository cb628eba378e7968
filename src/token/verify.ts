import type { Pool } from 'pg';
import type { RequestId } from '../observability/requestFields.ts';
import type { Claims } from './claims.ts';
import { hashToken, isToken } from './format.ts';
import type { Scope } from './scopes.ts';
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

/** The same by the hash, which is all that the database stores of a token. */
export async function verifyTokenHash(pool: Pool, hash: Buffer, requestId: RequestId): Promise<Claims | null> {
  const { rows } = await queryOnce<AccessTokenRow>(pool, oauthSettings(null, requestId), {
    name: 'verify_access_token',
    text: 'select * from oauth.verify_access_token($1)',
    values: [hash],
  });
  return rows[0] ? toClaims(rows[0]) : null;
}

/** What `oauth.verify_access_token` returns. */
export type AccessTokenRow = {
  organization_id: string;
  application_id: string;
  client_id: string;
  user_id: string | null;
  grant_id: string;
  scopes: Scope[];
  created_at: Date;
  expires_at: Date;
};

export function toClaims(row: AccessTokenRow): Claims {
  return {
    organizationId: row.organization_id,
    applicationId: row.application_id,
    clientId: row.client_id,
    userId: row.user_id,
    grantId: row.grant_id,
    scopes: row.scopes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

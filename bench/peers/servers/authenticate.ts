import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Pool } from 'pg';
import { hashToken } from '../../../src/token/accessTokens.ts';
import type { Scope } from '../../../src/token/scopes.ts';
import { type Claims, graphSettings, oauthSettings, type TransactionSettings } from '../../../src/token/settings.ts';
import { queryPipelined } from './queryPipelined.ts';

/**
 * The check that the service makes for each request, too: one indexed lookup by the token's SHA-256, joined to its grant, client and
 * person.
 */
export async function authenticate(pool: Pool, request: IncomingMessage): Promise<Claims> {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const [row] = await queryPipelined(pool, oauthSettings(null, newRequestId()), {
    name: 'verify_access_token',
    text: 'select * from oauth.verify_access_token($1)',
    values: [hashToken(token)],
  });
  if (!row) throw new Error('The access token is unknown.');
  return {
    organizationId: row.organization_id as string,
    applicationId: row.application_id as string,
    clientId: row.client_id as string,
    userId: row.user_id as string | null,
    grantId: row.grant_id as string,
    scopes: row.scopes as Scope[],
    createdAt: row.created_at as Date,
    expiresAt: row.expires_at as Date,
  };
}

/** The settings of the service, by its own code: every peer stands behind the same roles and policies. */
export function settingsOf(claims: Claims): TransactionSettings {
  return graphSettings(claims, newRequestId(), 10_000);
}

function newRequestId() {
  const id = randomUUID();
  return { id, ofServer: id };
}

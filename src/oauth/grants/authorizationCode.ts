import { createHash, timingSafeEqual } from 'node:crypto';
import oauth2orize from 'oauth2orize';
import type { Pool, PoolClient } from 'pg';
import type { Scope } from '../../token/claims.ts';
import { hashToken, isToken } from '../../token/format.ts';
import type { Client } from '../client/authenticateClient.ts';
import { invalidGrant, OAuthError } from '../errors.ts';
import { inOrganization } from '../inOrganization.ts';
import type { Parameters } from '../parameters.ts';
import { grantedScopes } from '../scope.ts';
import { createUserGrant } from '../token/createUserGrant.ts';
import { issueTokens, type TokenReply } from '../token/issueTokens.ts';
import { respond } from '../token/respond.ts';
import { revokeGrant } from '../token/revokeGrant.ts';

/**
 * The authorization code grant (RFC 6749 section 4.1.3) with PKCE (RFC 7636 section 4.6).
 * A code is redeemed once. A client that it was not issued to, or without the verifier, changes nothing. The client itself coming
 * back with a used code means that its requests are replayed: the grant is revoked (RFC 6749 section 4.1.2, RFC 9700 section 4.5).
 */
export const authorizationCode = (pool: Pool) =>
  oauth2orize.exchange.authorizationCode<Client>(
    { userProperty: 'oauthClient' },
    // Called by the number of its parameters.
    (client: Client, code, redirectUri, parameters: Parameters, issued) =>
      respond(issued, exchange(pool, client, { code, redirectUri, verifier: parameters.code_verifier ?? '' })),
  );

type Shown = { readonly code: string; readonly redirectUri: string; readonly verifier: string };

async function exchange(pool: Pool, client: Client, shown: Shown): Promise<TokenReply> {
  const { application, requestId } = client;
  const outcome = await inOrganization(pool, application.organizationId, requestId, async (database) => {
    const code = isToken('code', shown.code) ? await lockCode(database, shown.code) : undefined;
    if (!code || code.application_id !== application.id || !isMeant(code, shown)) return unknownCode();
    if (code.grant_id !== null) {
      if (!isConcurrent(code, client)) await revokeGrant(database, code.grant_id);
      return invalidGrant('The authorization code was used before.');
    }
    if (code.expired || code.disabled) return unknownCode();
    return use(database, client, shown.code, code);
  });
  // Not thrown inside, where it would roll back the end of the grant.
  if (outcome instanceof OAuthError) throw outcome;
  return outcome;
}

const unknownCode = () =>
  invalidGrant(
    'The authorization code is unknown or expired, or redirect_uri or code_verifier are not those it needs.',
  );

type CodeRow = {
  application_id: string;
  user_id: string;
  scopes: Scope[];
  redirect_uri: string;
  code_challenge: string;
  expired: boolean;
  disabled: boolean;
  /** What it bought, once it was used. */
  grant_id: string | null;
  /** How many milliseconds before this row was read, by PostgreSQL's clock. */
  used_ago: number | null;
};

/** The code, locked, so that exchanges take turns: of however many at once, one is first. */
async function lockCode(database: PoolClient, code: string): Promise<CodeRow | undefined> {
  const { rows } = await database.query<CodeRow>({
    name: 'lock_authorization_code',
    text: `
      select application_id, user_id, scopes, redirect_uri, code_challenge, grant_id,
        expires_at <= clock_timestamp() as expired,
        exists (select from oauth.credentials k where k.user_id = c.user_id and k.disabled_at is not null) as disabled,
        extract(epoch from clock_timestamp() - used_at)::float8 * 1000 as used_ago
      from oauth.authorization_codes c
      where code_hash = $1
      for no key update`,
    values: [hashToken(code)],
  });
  return rows[0];
}

/**
 * Whether the code was perhaps used while this request was on its way: a client's double, no replay.
 *
 * Two clocks are compared by Cristian's bound (Probabilistic clock synchronization, 1989): PostgreSQL has read its clock before its
 * answer came, so that the use was at the latest so long before now.
 */
function isConcurrent({ used_ago }: CodeRow, { receivedAt }: Client): boolean {
  return performance.now() - (used_ago ?? 0) > receivedAt;
}

/** Redirects are compared exactly here: the client names the one that it used, its port included. */
function isMeant(code: CodeRow, { redirectUri, verifier }: Shown): boolean {
  const challenge = createHash('sha256').update(verifier).digest();
  return redirectUri === code.redirect_uri && timingSafeEqual(challenge, Buffer.from(code.code_challenge, 'base64url'));
}

async function use(database: PoolClient, client: Client, code: string, row: CodeRow): Promise<TokenReply> {
  const scopes = grantedScopes(row.scopes, client.application, undefined);
  const grantId = await createUserGrant(database, client, 'authorization_code', row.user_id, scopes);
  const reply = await issueTokens(database, { grantId, scopes });
  await database.query({
    name: 'use_authorization_code',
    text: 'update oauth.authorization_codes set used_at = clock_timestamp(), grant_id = $2 where code_hash = $1',
    values: [hashToken(code), grantId],
  });
  return reply;
}

import { createHash, timingSafeEqual } from 'node:crypto';
import type { PoolClient } from 'pg';
import { hashToken, isToken } from '../../token/accessTokens.ts';
import { type Scope, scopesOf } from '../../token/scopes.ts';
import type { Client } from '../client.ts';
import { invalidGrant } from '../errors.ts';
import { commitWithRefusal } from '../inOrganization.ts';
import { createUserGrant, grantedScopes, issueTokens, type TokenReply } from '../token/issueTokens.ts';
import { revokeGrant } from '../token/revoke.ts';
import type { Grant } from './grant.ts';

/**
 * The authorization code grant (RFC 6749 section 4.1.3) with PKCE (RFC 7636 section 4.6).
 * A code is redeemed once. Another client, or one without the verifier, changes nothing. If the client itself sends a used code again, its
 * requests are being replayed: the grant is revoked (RFC 6749 section 4.1.2, RFC 9700 section 4.5).
 */
export const authorizationCode: Grant = {
  type: 'authorization_code',
  name: 'authorization_code',
  scopes: scopesOf('user'),
  parameters: {
    code: 'RFC 6749 section 4.1.3',
    redirect_uri: 'RFC 6749 section 4.1.3: required, since every authorization request has one',
    code_verifier: 'RFC 7636 section 4.5: required of every client',
  },
  async issue({ pool }, client, { code: shown = '', redirect_uri = '', code_verifier = '' }) {
    const { application, requestId } = client;
    return commitWithRefusal(pool, application.organizationId, requestId, async (database) => {
      const code = isToken('code', shown) ? await lockCode(database, shown) : undefined;
      if (!code) return unknownCode('the code is unknown');
      if (code.application_id !== application.id) return unknownCode('the code is another client’s');
      // Redirects are compared exactly here, since the client names the one that it used, with its port.
      if (redirect_uri !== code.redirect_uri) return unknownCode('redirect_uri is not the one of the request');
      if (!isVerifierOf(code, code_verifier)) return unknownCode('code_verifier does not match');
      if (code.grant_id !== null) {
        if (!isConcurrent(code, client)) await revokeGrant(database, code.grant_id);
        return invalidGrant('The authorization code was used before.');
      }
      if (code.expired) return unknownCode('the code has expired');
      if (code.disabled) return unknownCode('the user is disabled');
      return use(database, client, shown, code);
    });
  },
  guide: {
    title: 'As a user, in any other application',
    text: 'The authorization code flow with PKCE (`S256`): send the browser to `/oauth/authorize` with `response_type=code`, `client_id`, `redirect_uri`, `state`, `code_challenge` and `code_challenge_method`, then exchange the code.',
    example: [
      '-d grant_type=authorization_code -d client_id=CLIENT_ID -d code=CODE',
      '--data-urlencode redirect_uri=REDIRECT_URI -d code_verifier=VERIFIER',
    ],
  },
};

const unknownCode = (reason: string) =>
  invalidGrant(
    'The authorization code is unknown or expired, or redirect_uri or code_verifier are not those it needs.',
    reason,
  );

type CodeRow = {
  application_id: string;
  user_id: string;
  scopes: Scope[];
  redirect_uri: string;
  code_challenge: string;
  expired: boolean;
  disabled: boolean;
  /** The grant that it was redeemed for. */
  grant_id: string | null;
  /** How many milliseconds before this read it was used, by PostgreSQL's clock. */
  used_ago: number | null;
};

/** The code, locked, so that exchanges take turns: of any number at once, one is first. */
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
 * Whether the code may have been used while this request was on its way: a duplicate, no replay.
 *
 * Two clocks are compared by Cristian's bound (Probabilistic clock synchronization, 1989). PostgreSQL read its clock before its answer
 * came.
 * So the use was at least that long before now.
 */
function isConcurrent({ used_ago }: CodeRow, { receivedAt }: Client): boolean {
  return performance.now() - (used_ago ?? 0) > receivedAt;
}

function isVerifierOf({ code_challenge }: CodeRow, verifier: string): boolean {
  const challenge = createHash('sha256').update(verifier).digest();
  return timingSafeEqual(challenge, Buffer.from(code_challenge, 'base64url'));
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

import type { PoolClient } from 'pg';
import { decrypt, encrypt, subkey } from '../../crypto/secrets.ts';
import { hashToken, isToken } from '../../token/accessTokens.ts';
import { type Scope, scopeNames } from '../../token/scopes.ts';
import type { Client } from '../client.ts';
import { invalidClient, invalidGrant, invalidScope } from '../errors.ts';
import { commitWithRefusal } from '../inOrganization.ts';
import { lifetimes } from '../lifetimes.ts';
import { deleteExpiredTokens } from '../purge.ts';
import { grantedScopes, issueTokens, type TokenReply } from '../token/issueTokens.ts';
import { revokeGrant } from '../token/revoke.ts';
import type { Grant } from './grant.ts';

/**
 * Renewal (RFC 6749 section 6) with rotation (RFC 9700 section 4.14.2).
 * A refresh token is used once and replaced by a successor. A client that lost the reply may ask again for a minute
 * (`lifetimes.refreshReplaySeconds`) and gets the same one. Any other reuse means that two parties have the token: it ends the grant, and
 * only that.
 */
export const refreshToken: Grant = {
  type: 'refresh_token',
  name: 'refresh_token',
  // It renews tokens of any scope.
  scopes: scopeNames,
  parameters: { refresh_token: 'RFC 6749 section 6' },
  async issue({ pool }, { application, authentication, requestId }, { refresh_token: token = '', scope }) {
    return commitWithRefusal(pool, application.organizationId, requestId, async (database) => {
      const grant = isToken('refresh', token) ? await lockGrant(database, token) : undefined;
      if (!grant) return unknownToken('the refresh token is unknown, or its grant was ended');
      // Another client's token stays as it is.
      if (grant.application_id !== application.id) return unknownToken('the refresh token is another client’s');
      if (grant.client_authentication === 'secret' && authentication === 'none')
        return invalidClient('the grant was given to the client with its secret, which is missing');

      const old = await readToken(database, token);
      if (old?.used && !old.replayable) {
        await revokeGrant(database, grant.id);
        return invalidGrant('The refresh token was used before, so its grant has been ended; sign in again.');
      }
      if (!old) return unknownToken('the refresh token was deleted');
      if (old.expired) return unknownToken('the refresh token has expired');
      if (grant.disabled) return unknownToken('the user is disabled');
      const scopes = grantedScopes(old.scopes, application, scope);
      if (!old.used) return rotate(database, grant.id, token, old, scopes);
      const reply = openReply(old.reply_ciphertext, token);
      if (scope !== undefined && reply.scope !== scopes.join(' '))
        return invalidScope(
          'The token was used with another scope; repeat the request as it was, or use the new refresh token.',
        );
      return reply;
    });
  },
  guide: {
    title: 'With a refresh token',
    text: 'A refresh token gets the next pair of tokens, once.',
    example: [
      '-d grant_type=refresh_token -d refresh_token=REFRESH_TOKEN',
      '-d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET',
    ],
  },
};

const unknownToken = (reason: string) => invalidGrant('The refresh token is unknown, expired or revoked.', reason);

type GrantRow = {
  id: string;
  application_id: string;
  client_authentication: Client['authentication'];
  disabled: boolean;
};

/**
 * The grant, locked first: it serializes the refreshes of one grant.
 * A revocation also locks it before its tokens, so that there is no deadlock.
 */
async function lockGrant(database: PoolClient, token: string): Promise<GrantRow | undefined> {
  const { rows } = await database.query<GrantRow>({
    name: 'lock_grant',
    text: `
      select g.id, g.application_id, g.client_authentication,
        exists (select from oauth.credentials c where c.user_id = g.user_id and c.disabled_at is not null) as disabled
      from oauth.grants g
      where g.id = (select t.grant_id from oauth.refresh_tokens t where t.token_hash = $1)
      for no key update of g`,
    values: [hashToken(token)],
  });
  return rows[0];
}

type TokenRow = {
  scopes: Scope[];
  used: boolean;
  /**
   * Whether it was used less than `lifetimes.refreshReplaySeconds` ago, and its successor was not.
   * Then the client may not have received the reply.
   */
  replayable: boolean | null;
  expired: boolean;
  absolute_expires_at: string;
  reply_ciphertext: Buffer | null;
};

async function readToken(database: PoolClient, token: string): Promise<TokenRow | undefined> {
  const { rows } = await database.query<TokenRow>({
    name: 'read_refresh_token',
    text: `
      select t.scopes, t.used_at is not null as used, t.expires_at <= clock_timestamp() as expired,
        t.used_at > clock_timestamp() - make_interval(secs => ${lifetimes.refreshReplaySeconds}) and successor.used_at is null as replayable,
        t.absolute_expires_at::text, t.reply_ciphertext
      from oauth.refresh_tokens t
      left join oauth.refresh_tokens successor on successor.token_hash = t.successor_hash
      where t.token_hash = $1`,
    values: [hashToken(token)],
  });
  return rows[0];
}

async function rotate(
  database: PoolClient,
  grantId: string,
  token: string,
  old: TokenRow,
  scopes: readonly Scope[],
): Promise<TokenReply> {
  const reply = await issueTokens(database, {
    grantId,
    scopes,
    refreshScopes: old.scopes,
    absoluteExpiresAt: old.absolute_expires_at,
  });
  await database.query({
    name: 'use_refresh_token',
    text: `
      update oauth.refresh_tokens
      set used_at = clock_timestamp(), successor_hash = $2, reply_ciphertext = $3
      where token_hash = $1`,
    values: [hashToken(token), hashToken(reply.refresh_token), sealReply(reply, token)],
  });
  await deleteExpiredTokens(database, grantId);
  return reply;
}

/** The key is derived only from the old token: the database and SECRET_KEY together cannot open it. */
const sealReply = (reply: TokenReply, token: string) => encrypt(replyKey(token), JSON.stringify(reply), '');

function openReply(ciphertext: Buffer | null, token: string): TokenReply {
  const reply = ciphertext && decrypt(replyKey(token), ciphertext, '');
  if (!reply) throw new Error('The reply of a refresh token does not open with it');
  return JSON.parse(reply);
}

const replyKey = (token: string) => subkey(Buffer.from(token), 'refresh token reply');

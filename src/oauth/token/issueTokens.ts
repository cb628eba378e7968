import type { PoolClient } from 'pg';
import { onlyRow } from '../../database/onlyRow.ts';
import { createToken, hashToken } from '../../token/format.ts';
import type { Scope } from '../../token/scopes.ts';
import { lifetimes } from '../lifetimes.ts';

/** The token endpoint's answer (RFC 6749 section 5.1), and `created_at`, as in Doorkeeper. */
export type TokenReply = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'bearer';
  readonly expires_in: number;
  readonly scope: string;
  /** Unix time in seconds, by the database's clock. */
  readonly created_at: number;
};

export type TokensToIssue = {
  readonly grantId: string;
  readonly scopes: readonly Scope[];
  /** The scopes that the refresh token can renew, if they are more than the access token's. */
  readonly refreshScopes?: readonly Scope[];
  /** Passed on when a refresh token is replaced, as a text: a Date would lose the microseconds. */
  readonly absoluteExpiresAt?: string;
};

/** Writes an access and a refresh token below a grant; the transaction is in its organization. */
export async function issueTokens(client: PoolClient, tokens: TokensToIssue): Promise<TokenReply> {
  const accessToken = createToken('access');
  const refreshToken = createToken('refresh');
  const issued = await client.query<{ created_at: string }>({
    name: 'issue_tokens',
    text: `
      with clock as (
        select now, coalesce($6::timestamptz, now + make_interval(days => ${lifetimes.refreshTokenAbsoluteDays})) as absolute_expires_at
        from clock_timestamp() as now
      ), access as (
        insert into oauth.access_tokens (organization_id, grant_id, token_hash, scopes, created_at, expires_at)
        select app_hidden.current_organization_id(), $1, $2, $3, now, now + make_interval(secs => ${lifetimes.accessTokenSeconds})
        from clock
      ), refresh as (
        insert into oauth.refresh_tokens (organization_id, grant_id, token_hash, scopes, created_at, expires_at, absolute_expires_at)
        select app_hidden.current_organization_id(), $1, $4, $5, now,
          least(now + make_interval(days => ${lifetimes.refreshTokenIdleDays}), absolute_expires_at), absolute_expires_at
        from clock
      )
      select floor(extract(epoch from now)) as created_at from clock`,
    values: [
      tokens.grantId,
      hashToken(accessToken),
      tokens.scopes,
      hashToken(refreshToken),
      tokens.refreshScopes ?? tokens.scopes,
      tokens.absoluteExpiresAt ?? null,
    ],
  });
  return {
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'bearer',
    expires_in: lifetimes.accessTokenSeconds,
    scope: tokens.scopes.join(' '),
    created_at: Number(onlyRow(issued).created_at),
  };
}

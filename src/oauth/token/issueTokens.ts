import type { PoolClient } from 'pg';
import type { Scope } from '../../token/claims.ts';
import { createToken, hashToken } from '../../token/format.ts';
import { onlyRow } from '../onlyRow.ts';

/** Lifetime of an access token: `expires_in`. */
export const accessTokenTtlSeconds = 7200;

/** A refresh token that is not used for 30 days ends; a grant ends 90 days after its first one. */
const refreshTokenIdleDays = 30;
const refreshTokenAbsoluteDays = 90;

/** The token endpoint's answer (RFC 6749 section 5.1; interface specification, Authentication, row 8). */
export type TokenReply = {
  readonly access_token: string;
  readonly token_type: 'bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly scope: string;
  /** Unix time in seconds, by the database's clock. */
  readonly created_at: number;
};

export type TokensToIssue = {
  readonly grantId: string;
  readonly scopes: readonly Scope[];
  /** What the refresh token can renew, if that is more than what the access token may do. */
  readonly refreshScopes?: readonly Scope[];
  /** Handed on when a refresh token is replaced, as its text: a Date would lose the microseconds. */
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
        select now, coalesce($6::timestamptz, now + make_interval(days => ${refreshTokenAbsoluteDays})) as absolute_expires_at
        from clock_timestamp() as now
      ), access as (
        insert into oauth.access_tokens (organization_id, grant_id, token_hash, scopes, created_at, expires_at)
        select app_hidden.current_organization_id(), $1, $2, $3, now, now + make_interval(secs => ${accessTokenTtlSeconds})
        from clock
      ), refresh as (
        insert into oauth.refresh_tokens (organization_id, grant_id, token_hash, scopes, created_at, expires_at, absolute_expires_at)
        select app_hidden.current_organization_id(), $1, $4, $5, now,
          least(now + make_interval(days => ${refreshTokenIdleDays}), absolute_expires_at), absolute_expires_at
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
    token_type: 'bearer',
    expires_in: accessTokenTtlSeconds,
    refresh_token: refreshToken,
    scope: tokens.scopes.join(' '),
    created_at: Number(onlyRow(issued).created_at),
  };
}

import type { Pool, PoolClient } from 'pg';
import { onlyRow } from '../../database/pool/transactions.ts';
import { createToken, hashToken } from '../../token/accessTokens.ts';
import { isScope, type Scope, scopesInWords } from '../../token/scopes.ts';
import type { Application, Client } from '../client.ts';
import { invalidScope, unauthorizedClient } from '../errors.ts';
import { inOrganization } from '../inOrganization.ts';
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

type TokensToIssue = {
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

/**
 * Creates a grant from a person to an application, with how the client authenticated; returns its id.
 * The caller's transaction is in the application's organization.
 */
export async function createUserGrant(
  database: PoolClient,
  { application, authentication }: Client,
  grantType: string,
  userId: string,
  scopes: readonly Scope[],
): Promise<string> {
  const grant = await database.query<{ id: string }>({
    name: 'create_user_grant',
    text: `
      insert into oauth.grants (organization_id, application_id, user_id, grant_type, scopes, client_authentication)
      values (app_hidden.current_organization_id(), $1, $2, $3, $4, $5)
      returning id`,
    values: [application.id, userId, grantType, scopes, authentication],
  });
  return onlyRow(grant).id;
}

/** Creates a grant for a person who has just signed in at the token endpoint, and issues its tokens. */
export function issueToUser(pool: Pool, client: Client, userId: string, scopes: readonly Scope[]): Promise<TokenReply> {
  return inOrganization(pool, client.application.organizationId, client.requestId, async (database) => {
    const grantId = await createUserGrant(database, client, 'password', userId, scopes);
    return issueTokens(database, { grantId, scopes });
  });
}

/**
 * The scopes of a token, sorted: those asked for, or all of `possible` that the application holds.
 * `possible` has the scopes that the grant type can give or, when a token is renewed, those that were granted (RFC 6749 section 6).
 *
 * @throws {OAuthError} invalid_scope when that is less than the client asked for; unauthorized_client when it asked for nothing and nothing
 * is left
 */
export function grantedScopes(
  possible: readonly Scope[],
  application: Application,
  scope: string | undefined,
): readonly Scope[] {
  const held = possible.filter((word) => application.scopes.includes(word));
  const asked = parseScope(scope);
  if (asked === null && held.length === 0) {
    throw unauthorizedClient('The application holds no scope that this grant can give.');
  }
  if (asked?.some((word) => !held.includes(word)))
    throw invalidScope('That is more than the application and the grant hold.');
  return asked ?? held;
}

/**
 * Parses a `scope` parameter (RFC 6749 3.3: words, one space between), sorted; null if omitted.
 *
 * @throws {OAuthError} invalid_scope for an empty, repeated or unknown word
 */
export function parseScope(scope: string | undefined): readonly Scope[] | null {
  if (scope === undefined) return null;
  const words = scope.split(' ');
  if (!words.every(isScope)) throw invalidScope(`scope takes ${scopesInWords}, separated by one space.`);
  if (new Set(words).size < words.length) throw invalidScope('scope repeats a word.');
  return words.sort();
}

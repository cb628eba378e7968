import type { PoolClient } from 'pg';
import { hashToken, isToken } from '../../token/format.ts';
import type { Scope } from '../../token/scopes.ts';

/** A token that can be used now. */
export type LiveToken = {
  readonly kind: 'access' | 'refresh';
  readonly client_id: string;
  /** Null for an application's own token. */
  readonly user_id: string | null;
  readonly scopes: readonly Scope[];
  /** Unix time in whole seconds, as `expires_at`. */
  readonly issued_at: number;
  readonly expires_at: number;
};

/**
 * The rights of this token now, in the transaction's organization, or null.
 * Null if it is unknown, malformed, expired, used, revoked or of another organization, or its user or application is disabled. A refresh
 * token is only for its own application.
 */
export async function findLiveToken(
  database: PoolClient,
  token: string,
  applicationId: string,
): Promise<LiveToken | null> {
  if (isToken('access', token)) return find(database, 'access', [hashToken(token)]);
  if (isToken('refresh', token)) return find(database, 'refresh', [hashToken(token), applicationId]);
  return null;
}

async function find(database: PoolClient, kind: LiveToken['kind'], values: unknown[]): Promise<LiveToken | null> {
  const { rows } = await database.query<Omit<LiveToken, 'kind'>>({
    name: `find_live_${kind}_token`,
    text: `
      select client_id, user_id, scopes,
        floor(extract(epoch from created_at))::float8 as issued_at,
        floor(extract(epoch from expires_at))::float8 as expires_at
      from (${sources[kind]}) as live`,
    values,
  });
  return rows[0] ? { kind, ...rows[0] } : null;
}

const sources = {
  // The function defines when a token is live; it reads every organization.
  access: `
    select client_id, user_id, scopes, created_at, expires_at
    from oauth.verify_access_token($1)
    where organization_id = (select app_hidden.current_organization_id())`,
  refresh: `
    select a.client_id, g.user_id, t.scopes, t.created_at, t.expires_at
    from oauth.refresh_tokens t
    join oauth.grants g on g.organization_id = t.organization_id and g.id = t.grant_id
    join oauth.applications a on a.organization_id = g.organization_id and a.id = g.application_id
    where t.token_hash = $1 and t.used_at is null and t.expires_at > clock_timestamp()
      and a.id = $2 and a.disabled_at is null
      and not exists (select from oauth.credentials c where c.user_id = g.user_id and c.disabled_at is not null)`,
} as const;

import type { ClientBase } from 'pg';

/**
 * Allowlist of authenticators: records the server's login roles.
 * Any other member of a request role is a finding, a login role of an earlier configuration, too. What an administrator has accepted stays.
 */
export async function nameAuthenticators(owner: ClientBase, names: readonly string[]): Promise<void> {
  await owner.query(
    `with former as (delete from audit.accepted where kind = 'authenticator_not_named' and reason = $1 and object <> all ($2))
     insert into audit.accepted (kind, object, who, reason)
     select 'authenticator_not_named', name, '', $1 from unnest($2::text[]) as name
     on conflict on constraint accepted_pkey do nothing`,
    ['The server logs in as this role, said db:migrate.', names],
  );
}

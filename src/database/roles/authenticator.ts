import { Client, type ClientBase, escapeIdentifier } from 'pg';
import { StartupError } from '../../errors/startupError.ts';
import type { Log } from '../../log.ts';
import { scopes, scopesByRank } from '../../token/scopes.ts';
import { isForbidden } from './isForbidden.ts';
import { revokeConnectFromPublic } from './revokeConnect.ts';

/** The logins of the running server: roles that own nothing and can only become roles of requests. */
export type ServerLogins = {
  authUrl: string;
  /** The OAuth server's own, so that SQL injected into one cannot become the other; unset: the same. */
  oauthUrl?: string | undefined;
};

export type Login = {
  readonly variable: 'AUTH_DATABASE_URL' | 'OAUTH_DATABASE_URL';
  readonly url: string;
  /** The roles that the login becomes, which the migrations create. */
  readonly requestRoles: readonly string[];
};

export type NamedLogin = Login & { readonly name: string };

const graphRoles = scopesByRank.map((scope) => scopes[scope].role);
// Webhooks are sent under the second role, which no request becomes.
const oauthRoles = ['graph_oauth', 'graph_worker'];
/** The roles that the server may become; the migrations list them in `audit.request_roles`, too. */
export const requestRoles: readonly string[] = [...graphRoles, ...oauthRoles];

/** The login of GraphQL, and that of the OAuth server unless one serves both. */
export function loginsOf({ authUrl, oauthUrl }: ServerLogins): { graphql: Login; oauth: Login | null } {
  return {
    graphql: {
      variable: 'AUTH_DATABASE_URL',
      url: authUrl,
      requestRoles: oauthUrl ? graphRoles : requestRoles,
    },
    oauth: oauthUrl ? { variable: 'OAUTH_DATABASE_URL', url: oauthUrl, requestRoles: oauthRoles } : null,
  };
}

/** The logins with the names of their roles. @throws {StartupError} when a URL names none */
export function namedLogins(logins: ServerLogins): NamedLogin[] {
  const { graphql, oauth } = loginsOf(logins);
  return (oauth ? [graphql, oauth] : [graphql]).map((login) => {
    const { user } = new Client({ connectionString: login.url });
    if (!user) throw new StartupError(`${login.variable} names no role.`);
    return { ...login, name: user };
  });
}

/**
 * Least privilege: login roles may see which migrations were applied, and lose what no server needs.
 * PUBLIC loses it, too. A privilege that the owner may not revoke, as on a managed service, stays.
 */
export async function grantToAuthenticators(owner: ClientBase, logins: readonly NamedLogin[], log: Log): Promise<void> {
  for (const { name } of logins) {
    const role = escapeIdentifier(name);
    await owner.query(`grant usage on schema graphile_migrate to ${role}`);
    await owner.query(`grant select (filename, hash) on graphile_migrate.migrations to ${role}`);
  }
  // Last, when each role has what it needs.
  for (const login of logins) await revokeUnused(owner, login);
  await nameAuthenticators(
    owner,
    logins.map(({ name }) => name),
  );
  await revokeFromPublic(owner);
  await revokeConnectFromPublic(owner, log);
}

/**
 * Revokes unused request roles, unless a server is connected as the role and may need them.
 * A role that another role has granted stays, too; `audit.findings` reports it.
 */
async function revokeUnused(owner: ClientBase, { name, requestRoles: used }: NamedLogin): Promise<void> {
  const { rows: unused } = await owner.query<{ role: string }>(
    `select role from audit.request_roles
     where role <> all ($2) and pg_has_role($1::name, role_id, 'member') and not exists (select from pg_stat_activity where usename = $1)`,
    [name, used],
  );
  for (const { role } of unused) {
    await owner.query(`revoke ${escapeIdentifier(role)} from ${escapeIdentifier(name)}`).catch((error: unknown) => {
      if (!isForbidden(error)) throw error;
    });
  }
}

/**
 * Allowlist of authenticators: records the server's login roles.
 * Any other member of a request role is a finding, even a login role of an earlier configuration. Roles that an administrator has
 * accepted stay.
 */
async function nameAuthenticators(owner: ClientBase, names: readonly string[]): Promise<void> {
  await owner.query(
    `with former as (delete from audit.accepted where kind = 'authenticator_not_named' and reason = $1 and object <> all ($2))
     insert into audit.accepted (kind, object, who, reason)
     select 'authenticator_not_named', name, '', $1 from unnest($2::text[]) as name
     on conflict on constraint accepted_pkey do nothing`,
    ['The server logs in as this role, said db:migrate.', names],
  );
}

/**
 * Revokes from PUBLIC what the server never makes: temporary tables and large objects.
 * No policy guards these, and PostgreSQL lets every role make them.
 */
async function revokeFromPublic(owner: ClientBase): Promise<void> {
  await owner.query(`
    do $$
    declare
      routine regprocedure;
    begin
      if exists (
        select from pg_database d
        where d.datname = current_database() and pg_has_role(d.datdba, 'usage')
          and exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) where grantee = 0 and privilege_type = 'TEMPORARY')
      ) then
        execute format('revoke temporary on database %I from public', current_database());
      end if;
      for routine in
        select p.oid
        from pg_proc p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner)))
        where p.pronamespace = 'pg_catalog'::regnamespace and p.proname ~ '^lo(_|read$|write$)' and grantee = 0
          and pg_has_role(p.proowner, 'usage')
      loop
        execute format('revoke execute on function %s from public', routine);
      end loop;
    end
    $$`);
}

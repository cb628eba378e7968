import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client, type ClientBase, escapeIdentifier, escapeLiteral } from 'pg';
import { StartupError } from '../startupError.ts';
import { nameAuthenticators } from './nameAuthenticators.ts';

/** How the running server connects: as roles that own nothing and can only become roles of requests. */
export type ServerLogins = {
  authUrl: string;
  /** The OAuth server's own, so that what is injected into one server's statements cannot become the other; unset: it has the same. */
  oauthUrl?: string | undefined;
};

export type Login = {
  readonly variable: 'AUTH_DATABASE_URL' | 'OAUTH_DATABASE_URL';
  readonly url: string;
  /** What it becomes: roles that the migrations create. */
  readonly requestRoles: readonly string[];
};

const graphRoles = ['graph_app', 'graph_user', 'graph_basic'];
const oauthRoles = ['graph_oauth'];

/** The login of GraphQL, and that of the OAuth server unless one serves both. */
export function loginsOf({ authUrl, oauthUrl }: ServerLogins): { graphql: Login; oauth: Login | null } {
  return {
    graphql: {
      variable: 'AUTH_DATABASE_URL',
      url: authUrl,
      requestRoles: oauthUrl ? graphRoles : [...graphRoles, ...oauthRoles],
    },
    oauth: oauthUrl ? { variable: 'OAUTH_DATABASE_URL', url: oauthUrl, requestRoles: oauthRoles } : null,
  };
}

/**
 * Least privilege: creates the login roles that the URLs name or brings them up to date: the password, the membership in the request
 * roles that it needs, none of whose rights it inherits, and the right to see which migrations were applied. PostgreSQL 15 to 18; the
 * owner needs CREATEROLE.
 *
 * @throws {StartupError} when a role has rights that a request must never have, or the owner may not manage it
 */
export async function createAuthenticators(owner: ClientBase, logins: ServerLogins): Promise<void> {
  const { graphql, oauth } = loginsOf(logins);
  const all = oauth ? [graphql, oauth] : [graphql];
  for (const login of all) await createAuthenticator(owner, login);
  // Not before each role has what it needs.
  for (const login of all) await revokeUnused(owner, login);
  await nameAuthenticators(
    owner,
    all.map(({ url }) => new Client({ connectionString: url }).user ?? ''),
  );
  await revokeFromPublic(owner);
}

async function createAuthenticator(owner: ClientBase, { variable, url, requestRoles }: Login): Promise<void> {
  const { user, password } = new Client({ connectionString: url });
  if (!user) throw new StartupError(`${variable} names no role.`);
  const role = escapeIdentifier(user);
  const existing = await findRole(owner, user);
  if (existing?.mighty) {
    const message = `${variable} names ${role}, which may pass by row-level security; name another role.`;
    throw new StartupError(message);
  }

  try {
    const login = password ? `login noinherit password ${escapeLiteral(scramVerifier(password))}` : 'login noinherit';
    await owner.query(`${existing ? 'alter' : 'create'} role ${role} with ${login}`);
    await owner.query(`grant ${requestRoles.join(', ')} to ${role} ${await withoutInheriting(owner)}`);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const message = `DATABASE_URL's role may not manage ${role}: give it CREATEROLE, and the role's ADMIN OPTION if it exists.`;
    throw new StartupError(message, { cause: error });
  }
  await owner.query(grantConnect(role));
  await owner.query(`grant usage on schema graphile_migrate to ${role}`);
  await owner.query(`grant select (filename, hash) on graphile_migrate.migrations to ${role}`);
}

/** While a server is connected as a role it may need what the role has: then that stays, and `audit.findings` says so. */
async function revokeUnused(owner: ClientBase, { url, requestRoles }: Login): Promise<void> {
  const { user = '' } = new Client({ connectionString: url });
  const unused = [...graphRoles, ...oauthRoles].filter((role) => !requestRoles.includes(role));
  if (unused.length === 0) return;
  const { rowCount } = await owner.query('select from pg_stat_activity where usename = $1 limit 1', [user]);
  if (rowCount === 0) await owner.query(`revoke ${unused.join(', ')} from ${escapeIdentifier(user)}`);
}

/**
 * Revokes from PUBLIC what the server never makes, temporary tables and large objects, which no policy guards and PostgreSQL lets every
 * role make; and CONNECT, since roles are the cluster's, another database's server among them. What the owner may not revoke, as on a
 * managed service, stays.
 */
async function revokeFromPublic(owner: ClientBase): Promise<void> {
  // People audit and administer as members of these.
  await owner.query(grantConnect('graph_auditor, graph_admin'));
  await owner.query(`
    do $$
    declare
      routine regprocedure;
    begin
      if exists (
        select from pg_database d
        where d.datname = current_database() and pg_has_role(d.datdba, 'usage')
          and exists (
            select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba)))
            where grantee = 0 and privilege_type in ('CONNECT', 'TEMPORARY'))
      ) then
        execute format('revoke connect, temporary on database %I from public', current_database());
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

/** Where the owner may not grant it, everybody has it. */
const grantConnect = (roles: string) => `
  do $$
  begin
    if exists (select from pg_database d where d.datname = current_database() and pg_has_role(d.datdba, 'usage')) then
      execute format('grant connect on database %I to %s', current_database(), ${escapeLiteral(roles)});
    end if;
  end
  $$`;

async function findRole(owner: ClientBase, name: string): Promise<{ mighty: boolean } | undefined> {
  const found = await owner.query<{ mighty: boolean }>(
    'select rolsuper or rolbypassrls or rolname = current_user as mighty from pg_roles where rolname = $1',
    [name],
  );
  return found.rows[0];
}

/** From PostgreSQL 16 on each membership says for itself whether it is inherited. */
async function withoutInheriting(owner: ClientBase): Promise<string> {
  const { rows } = await owner.query<{ said: boolean }>(
    `select current_setting('server_version_num')::int >= 160000 as said`,
  );
  return rows[0]?.said ? 'with inherit false, set true' : '';
}

/** SQLSTATE 42501, insufficient_privilege. */
const isRefusal = (error: unknown) => Error.isError(error) && 'code' in error && error.code === '42501';

/**
 * What PostgreSQL stores for the password (RFC 5803), so that the password itself is in no statement that the server
 * may log.
 */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`;
}

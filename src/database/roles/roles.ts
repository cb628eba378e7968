import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client, type ClientBase, escapeIdentifier, escapeLiteral } from 'pg';
import { hasCode, StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { scopes, scopesByRank } from '../../token/scopes.ts';
import { onlyRow, withClient } from '../pool/transactions.ts';

/**
 * Desired state: the roles of the cluster, their memberships and logins, before anything is migrated.
 * Existing roles are used. CREATEROLE and ADMIN OPTION are needed only for missing ones. PostgreSQL 15 to 18 have different rules for
 * granting roles, so PostgreSQL itself decides what the owner may do.
 *
 * @throws {StartupError} when a login has rights that a request must never have, or the owner may not make what is missing: the message
 * then has the SQL for an administrator. Nothing is changed in either case
 */
export async function ensureRoles(owner: ClientBase, logins: readonly NamedLogin[]): Promise<void> {
  await refuseBypassingRls(owner, logins);
  await owner.query('begin');
  try {
    const refused = await tryAll(owner, logins);
    if (refused === null) return void (await owner.query('commit'));
    // Everything that is missing. The owner could make some of it, but this undoes that.
    await owner.query('rollback');
    throw new StartupError(await describeMissing(owner, [...(await missingStatements(owner, logins)), ...refused]));
  } catch (error) {
    await owner.query('rollback');
    throw error;
  }
}

/** @returns null when nothing is missing any more, else the passwords that the owner may not set */
async function tryAll(owner: ClientBase, logins: readonly NamedLogin[]): Promise<readonly Statement[] | null> {
  const refused = await setPasswords(owner, logins);
  for (const { sql } of await missingStatements(owner, logins)) await attempt(owner, sql);
  const missing = await missingStatements(owner, logins);
  return missing.length + refused.length > 0 ? refused : null;
}

/** @throws {StartupError} when a login bypasses RLS: a superuser, with BYPASSRLS, or the owner */
async function refuseBypassingRls(owner: ClientBase, logins: readonly NamedLogin[]): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(
    'select rolname::text as name from pg_roles where rolname = any ($1) and (rolsuper or rolbypassrls or rolname = current_user)',
    [logins.map(({ name }) => name)],
  );
  const bypassing = logins.find(({ name }) => rows.some((row) => row.name === name));
  if (!bypassing) return;
  const name = escapeIdentifier(bypassing.name);
  throw new StartupError(`${bypassing.variable} names ${name}, which bypasses row-level security; name another role.`);
}

/** `shown` leaves the password out. */
type Statement = { readonly sql: string; readonly shown: string };

const graphRoles = scopesByRank.map((scope) => scopes[scope].role);
const oauthRoles = ['graph_oauth', 'graph_worker'];
/** The roles that the server may become; the migrations list them in `audit.request_roles`, too. */
export const requestRoles: readonly string[] = [...graphRoles, ...oauthRoles];
/** The owner's roles: it passes the forced policies by the first, and gives functions to the others. */
const ownersRoles = ['graph_admin', 'graph_helper', 'graph_purger'];
/** Every role without a login; docs/operating.md lists them. */
export const groupRoles: readonly string[] = [...ownersRoles, ...requestRoles, 'graph_auditor'];

async function missingStatements(owner: ClientBase, logins: readonly NamedLogin[]): Promise<Statement[]> {
  const server = await readServer(owner);
  const roles = await readRoles(owner, [...groupRoles, ...logins.map(({ name }) => name)]);
  const newGroups = groupRoles.filter((name) => !roles.has(name)).map((name) => `create role ${name} nologin`);
  const memberships = [
    await missingMemberships(owner, server, { member: server.owner, roles: ownersRoles, inherits: true }),
    await missingMemberships(owner, server, { member: server.owner, roles: requestRoles, inherits: null }),
  ];
  for (const { name, requestRoles } of logins)
    memberships.push(await missingMemberships(owner, server, { member: name, roles: requestRoles, inherits: false }));
  const plain = (sql: string): Statement => ({ sql, shown: sql });
  return [
    ...newGroups.map(plain),
    ...logins.flatMap((login) => missingLogin(login, roles.get(login.name), server)),
    ...memberships.flat().map(plain),
    ...(await missingOnDatabase(owner, logins)).map(plain),
  ];
}

type Server = {
  readonly owner: string;
  /** Whether each membership has its own INHERIT, since PostgreSQL 16; before, the member has it. */
  readonly hasGrantOptions: boolean;
};

async function readServer(owner: ClientBase): Promise<Server> {
  return onlyRow(
    await owner.query<Server>(
      `select current_user::text as owner, current_setting('server_version_num')::int >= 160000 as "hasGrantOptions"`,
    ),
  );
}

type Role = { readonly canLogin: boolean; readonly inherits: boolean };

async function readRoles(owner: ClientBase, names: readonly string[]): Promise<ReadonlyMap<string, Role>> {
  const { rows } = await owner.query<Role & { name: string }>(
    `select rolname::text as name, rolcanlogin as "canLogin", rolinherit as inherits from pg_roles where rolname = any ($1)`,
    [names],
  );
  return new Map(rows.map((role) => [role.name, role]));
}

function missingLogin(login: NamedLogin, role: Role | undefined, { hasGrantOptions }: Server): Statement[] {
  if (!role) return [loginStatement('create', login)];
  // From PostgreSQL 16 on, its memberships state that they are not inherited.
  const isInOrder = role.canLogin && (hasGrantOptions || !role.inherits);
  return isInOrder ? [] : [loginStatement('alter', login)];
}

function loginStatement(verb: 'create' | 'alter', { name, variable, url }: NamedLogin): Statement {
  const start = `${verb} role ${escapeIdentifier(name)} with login noinherit`;
  const { password } = new Client({ connectionString: url });
  if (!password) return { sql: start, shown: start };
  return {
    sql: `${start} password ${escapeLiteral(scramVerifier(password))}`,
    shown: `${start} password '…' /* the one in ${variable} */`,
  };
}

type Membership = {
  readonly member: string;
  readonly roles: readonly string[];
  /** Null when it does not matter. */
  readonly inherits: boolean | null;
};

async function missingMemberships(owner: ClientBase, server: Server, wanted: Membership): Promise<string[]> {
  const { hasGrantOptions } = server;
  const { rows } = await owner.query<{ role: string; inherits: boolean; mayBecome: boolean }>(
    `select role, coalesce(pg_has_role(m.oid, r.oid, 'usage'), false) as inherits,
       coalesce(pg_has_role(m.oid, r.oid, $3), false) as "mayBecome"
     from unnest($2::text[]) with ordinality as wanted (role, place)
     left join pg_roles r on r.rolname = role
     left join pg_roles m on m.rolname = $1
     order by place`,
    [wanted.member, wanted.roles, hasGrantOptions ? 'set' : 'member'],
  );
  const isAsWanted = (inherits: boolean) => wanted.inherits === null || inherits === wanted.inherits;
  const missing = rows.filter(({ inherits, mayBecome }) => !mayBecome || (hasGrantOptions && !isAsWanted(inherits)));
  const member = escapeIdentifier(wanted.member);
  const options = hasGrantOptions ? ` with inherit ${wanted.inherits ?? false}, set true` : '';
  const grant = `grant ${missing.map(({ role }) => role).join(', ')} to ${member}${options}`;
  // Before PostgreSQL 16, INHERIT is an attribute of the member. Logins get theirs when they are created.
  const isDeaf = !hasGrantOptions && wanted.inherits && rows.some(({ inherits, mayBecome }) => mayBecome && !inherits);
  return [...(missing.length > 0 ? [grant] : []), ...(isDeaf ? [`alter role ${member} with inherit`] : [])];
}

/** The owner makes schemas; a login needs CONNECT, which PUBLIC has until the first migration. */
async function missingOnDatabase(owner: ClientBase, logins: readonly NamedLogin[]): Promise<string[]> {
  const { rows } = await owner.query<{ statement: string }>(
    `select format('grant create on database %I to %I', current_database(), current_user) as statement
     where not has_database_privilege(current_database(), 'create')
     union all
     select format('grant connect on database %I to %I', current_database(), name)
     from unnest($1::text[]) as name
     left join pg_roles r on r.rolname = name
     where not coalesce(
       has_database_privilege(r.oid, current_database(), 'connect'),
       has_database_privilege('public', current_database(), 'connect'))`,
    [logins.map(({ name }) => name)],
  );
  return rows.map(({ statement }) => statement);
}

/**
 * Sets the passwords of existing logins that PostgreSQL refuses.
 * One that works stays: another service of the cluster may use the same login with it.
 *
 * @returns the statements that PostgreSQL rejects
 */
async function setPasswords(owner: ClientBase, logins: readonly NamedLogin[]): Promise<Statement[]> {
  const roles = await readRoles(
    owner,
    logins.map(({ name }) => name),
  );
  const missing: Statement[] = [];
  for (const login of logins.filter(({ name }) => roles.has(name))) {
    if (!(await isRefused(login))) continue;
    await requireOwnLogin(owner, login);
    const statement = loginStatement('alter', login);
    if (!(await attempt(owner, statement.sql))) missing.push(statement);
  }
  return missing;
}

/** @throws {StartupError} when the login may connect to other databases, whose services would lose their password */
async function requireOwnLogin(owner: ClientBase, { name, variable }: NamedLogin): Promise<void> {
  const { rows } = await owner.query<{ database: string }>(
    `select datname::text as database
     from pg_database d, aclexplode(d.datacl) a join pg_roles r on r.oid = a.grantee
     where a.privilege_type = 'CONNECT' and r.rolname = $1 and datname <> current_database()
     order by datname`,
    [name],
  );
  if (rows.length === 0) return;
  const databases = rows.map(({ database }) => escapeIdentifier(database)).join(', ');
  const remedy = `Put that password into ${variable}, or name a role of this database's own`;
  throw new StartupError(
    `The role ${escapeIdentifier(name)} has another password than the one in ${variable}, and serves ${databases}, too; nothing was changed. ${remedy}.`,
  );
}

/** SQLSTATE 28P01, invalid_password. Other failures, such as the network's, appear at the start. */
const isRefused = ({ url }: NamedLogin): Promise<boolean> =>
  withClient({ connectionString: url, connectionTimeoutMillis: 5000 }, async () => false).catch((error: unknown) =>
    hasCode(error, '28P01'),
  );

/** @returns whether the owner was allowed to do it, or another session has done it meanwhile */
async function attempt(owner: ClientBase, sql: string): Promise<boolean> {
  await owner.query('savepoint attempt');
  try {
    await owner.query(sql);
    return true;
  } catch (error) {
    await owner.query('rollback to savepoint attempt');
    if (isForbidden(error) || hasCode(error, undefinedObject)) return false;
    if (hasCode(error, duplicateObject, uniqueViolation)) return true;
    throw error;
  }
}

// SQLSTATEs. A role is undefined if the owner could not make it just before, and exists if a migration of another database made it.
const undefinedObject = '42704';
const duplicateObject = '42710';
const uniqueViolation = '23505';

async function describeMissing(owner: ClientBase, missing: readonly Statement[]): Promise<string> {
  const { owner: name } = await readServer(owner);
  const lines = [...new Set(missing.map(({ shown }) => `  ${shown};`))];
  return [
    `DATABASE_URL's role ${name} may not do all that is needed; nothing was changed. As an administrator of the database, run`,
    ...lines,
    'and then this again. docs/operating.md has the list of roles.',
  ].join('\n');
}

/**
 * Least privilege: revokes CONNECT on the database from PUBLIC.
 * Roles belong to the cluster, and roles of its other databases may have rights in this one. This database's login roles, including those
 * of earlier runs, and auditors keep CONNECT. The log names the login roles that lose it. If another role owns the database, the log has
 * the SQL for that role.
 */
async function revokeConnectFromPublic(owner: ClientBase, log: Log): Promise<void> {
  const { rows } = await owner.query<{ isOwner: boolean; statements: string[] }>(
    `select pg_has_role(d.datdba, 'usage') as "isOwner", array[
       format('grant connect on database %I to %s', d.datname, (
         select string_agg(distinct r.oid::regrole::text, ', ')
         from pg_namespace n, aclexplode(n.nspacl) acl, pg_roles r
         where n.nspname = 'graphile_migrate' and r.oid in (acl.grantee, 'graph_auditor'::regrole, current_user::regrole))),
       format('revoke connect on database %I from public', d.datname)
     ] as statements
     from pg_database d
     where d.datname = current_database()
       and exists (select from aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) where grantee = 0 and privilege_type = 'CONNECT')`,
  );
  const [found] = rows;
  if (!found) return;
  const statements = found.statements.join('; ');
  if (!found.isOwner) {
    const facts = { remedy: statements };
    return log.warn(facts, 'every role of the cluster may connect to this database; its owner can take that away');
  }
  await owner.query(statements);
  const losers = await owner.query<{ name: string }>(
    `select rolname::text as name from pg_roles
     where rolcanlogin and not has_database_privilege(oid, current_database(), 'connect')
     order by rolname limit 20`,
  );
  if (losers.rowCount === 0) return;
  const facts = { roles: losers.rows.map(({ name }) => name), remedy: 'grant connect on database … to …' };
  log.warn(facts, 'these login roles may no longer connect to this database: PUBLIC has lost CONNECT');
}

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

type NamedLogin = Login & { readonly name: string };

// Webhooks are sent under the second role, which no request becomes.

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

/** SQLSTATE 42501, insufficient_privilege. */
export const isForbidden = (error: unknown): boolean => hasCode(error, '42501');

/**
 * PostgreSQL's stored form of a password (RFC 5803): statements, which may be logged, never have the password itself.
 * PostgreSQL and its clients prepare a password before they hash it.
 */
function scramVerifier(password: string): string {
  const iterations = 4096;
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(saslprep(password), salt, iterations, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`;
}

/** SASLprep (RFC 4013 section 2.1 and 2.2) as far as it changes a password: spaces, what is mapped to nothing, NFKC. */
const saslprep = (password: string): string =>
  password.replace(spaces, ' ').replace(mappedToNothing, '').normalize('NFKC');

/** RFC 3454, table B.1. */
const mappedToNothing = /\u00AD|\u034F|\u1806|[\u180B-\u180D]|[\u200C\u200D]|\u2060|[\uFE00-\uFE0F]|\uFEFF/gu;
/** RFC 3454, table C.1.2. */
const spaces = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/gu;

import { Client, type ClientBase, escapeIdentifier, escapeLiteral } from 'pg';
import { hasCode } from '../../errors/hasCode.ts';
import { StartupError } from '../../errors/startupError.ts';
import { onlyRow } from '../onlyRow.ts';
import { withClient } from '../pool/withClient.ts';
import { type NamedLogin, requestRoles } from './authenticator.ts';
import { isForbidden } from './isForbidden.ts';
import { scramVerifier } from './scramVerifier.ts';

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
    throw new StartupError(await describe(owner, [...(await missingStatements(owner, logins)), ...refused]));
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

async function describe(owner: ClientBase, missing: readonly Statement[]): Promise<string> {
  const { owner: name } = await readServer(owner);
  const lines = [...new Set(missing.map(({ shown }) => `  ${shown};`))];
  return [
    `DATABASE_URL's role ${name} may not do all that is needed; nothing was changed. As an administrator of the database, run`,
    ...lines,
    'and then this again. docs/operating.md has the list of roles.',
  ].join('\n');
}

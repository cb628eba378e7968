import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { Client, type ClientBase, escapeIdentifier, escapeLiteral } from 'pg';
import { StartupError } from '../startupError.ts';

/** What a request may become. Created by the migrations. */
const requestRoles = ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth'];

/**
 * Creates the login role that `authUrl` names or brings it up to date: its password, its membership in the request
 * roles, none of whose rights it inherits, and the right to see which migrations were applied. PostgreSQL 15 to 18; the
 * owner needs CREATEROLE.
 *
 * @throws {StartupError} when the role has rights that a request must never have, or belongs to somebody else
 */
export async function createAuthenticator(owner: ClientBase, authUrl: string): Promise<void> {
  const { user, password } = new Client({ connectionString: authUrl });
  if (!user) throw new StartupError('AUTH_DATABASE_URL names no role.');
  const role = escapeIdentifier(user);
  const existing = await findRole(owner, user);
  if (existing?.mighty) {
    const message = `AUTH_DATABASE_URL names ${role}, which may pass by row-level security; name another role.`;
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
  await owner.query(`grant usage on schema graphile_migrate to ${role}`);
  await owner.query(`grant select (filename, hash) on graphile_migrate.migrations to ${role}`);
}

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

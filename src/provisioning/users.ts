import type { ClientBase } from 'pg';
import type { Secrets } from '../crypto/secrets.ts';
import type { Passwords } from '../oauth/passwords.ts';
import type { User, UserOutline } from './document.ts';
import { type Entry, forRows, type Problem, type Report, sync } from './rows.ts';

/**
 * A user of the document as the database has it, or will have it.
 * A new user's id is made here, since the token is sealed for it.
 */
export type ExistingUser = { id: string; is_new: boolean; has_password: boolean };

/** Reads the users in the document's order. */
export function readUsers(client: ClientBase, users: readonly Entry<UserOutline>[]): Promise<ExistingUser[]> {
  const rows = users.map(({ organizationId, value }) => ({
    organization_id: organizationId,
    external_identifier: value.externalIdentifier,
  }));
  return forRows<ExistingUser>(
    client,
    rows,
    `select coalesce(u.id, app_hidden.uuid_v7()) as id, u.id is null as is_new, c.password_hash is not null as has_password
     from rows from (
       jsonb_to_recordset($1) as (organization_id uuid, external_identifier text)
     ) with ordinality as given (organization_id, external_identifier, position)
     left join app_public.users u
       on u.organization_id = given.organization_id and u.external_identifier = given.external_identifier
     left join oauth.credentials c on c.organization_id = u.organization_id and c.user_id = u.id
     order by given.position`,
  );
}

/** Problems that only the database can show: time zones, and values that other users already have. */
export async function findUserProblems(
  client: ClientBase,
  users: readonly Entry<UserOutline>[],
  secrets: Secrets,
): Promise<Problem[]> {
  const inDocument = new Set(users.map(({ organizationId, value }) => `${organizationId} ${value.externalIdentifier}`));
  const takenAs = async (field: keyof User, statement: string, rows: readonly object[]): Promise<Problem[]> => {
    const taken = await forRows<{ index: number; holder: string | null }>(client, rows, statement);
    return taken.flatMap(({ index, holder }) => {
      const { organizationId, path } = users[index] as Entry<UserOutline>;
      // Another user of the document is about to change, or was already compared with this one.
      if (inDocument.has(`${organizationId} ${holder}`)) return [];
      return [{ path: [...path, field], message: 'is taken by another user of the organization' }];
    });
  };
  const rows = users.map(({ organizationId, value }, index) => ({
    index,
    organization_id: organizationId,
    external_identifier: value.externalIdentifier,
    email: value.email,
  }));
  const tokens = users.flatMap(({ organizationId, value: { externalAuthenticationToken: token } }, index) =>
    (token ? secrets.lookupHashes(token, organizationId) : []).map((hash) => ({
      ...rows[index],
      token_hash: hash.toString('hex'),
    })),
  );
  return [
    ...(await findUnknownTimeZones(client, users)),
    ...(await takenAs('email', findTakenEmails, rows)),
    ...(await takenAs('externalAuthenticationToken', findTakenTokens, tokens)),
  ];
}

const findTakenEmails = `
  select given.index, u.external_identifier as holder
  from jsonb_to_recordset($1) as given (index int, organization_id uuid, external_identifier text, email text)
  join app_public.users u on u.organization_id = given.organization_id and u.email_lowercase = app_hidden.lowercase(given.email)
  where u.external_identifier is distinct from given.external_identifier`;

const findTakenTokens = `
  select given.index, u.external_identifier as holder
  from jsonb_to_recordset($1) as given (index int, organization_id uuid, external_identifier text, token_hash text)
  join app_public.users u
    on u.organization_id = given.organization_id
    and u.external_authentication_token_hash = decode(given.token_hash, 'hex')
  where u.external_identifier is distinct from given.external_identifier`;

async function findUnknownTimeZones(client: ClientBase, users: readonly Entry<UserOutline>[]): Promise<Problem[]> {
  const zones = new Set(users.flatMap(({ value }) => value.timeZone ?? []));
  const { rows } = await client.query<{ name: string; problem: string }>(
    'select name, problem from app_hidden.time_zone_problems($1)',
    [[...zones]],
  );
  const problems = new Map(rows.map(({ name, problem }) => [name, problem]));
  return users.flatMap(({ value, path }) => {
    const message = problems.get(value.timeZone ?? '');
    return message === undefined ? [] : [{ path: [...path, 'timeZone'], message }];
  });
}

/**
 * Adds users and changes those that differ; what the document leaves out stays. Sets no password.
 *
 * @returns their ids, in order
 */
export function writeUsers(
  client: ClientBase,
  users: readonly Entry<User>[],
  existing: readonly ExistingUser[],
  secrets: Secrets,
  report: Report,
): Promise<string[]> {
  const rows = users.map(({ value, ...entry }, index) => {
    const token = value.externalAuthenticationToken;
    const row = {
      external_identifier: value.externalIdentifier,
      full_name: value.fullName,
      email: value.email,
      locale: value.locale,
      time_zone: value.timeZone,
      external_authentication_token: token && sealFor(existing[index]?.id ?? '', token, entry.organizationId, secrets),
    };
    return { ...entry, value: row };
  });
  return sync(client, 'users', rows, report);
}

/**
 * A token in the form that app_public.users_sync takes.
 * It has no hash under the previous key: a token stored under that is sealed again.
 */
function sealFor(userId: string, token: string, organizationId: string, secrets: Secrets): string {
  const ciphertext = secrets.seal(token, { organizationId, userId }).toString('hex');
  return JSON.stringify({ userId, ciphertext, hash: secrets.lookupHash(token, organizationId).toString('hex') });
}

/** Sets the password of users without one; existing ones stay. Each takes a moment and 64 MiB. */
export async function writePasswords(
  client: ClientBase,
  users: readonly Entry<User>[],
  existing: readonly ExistingUser[],
  passwords: Passwords,
  report: Report,
): Promise<void> {
  const missing = users.flatMap(({ organizationId, value: { password } }, index) => {
    const user = existing[index];
    return user && !user.has_password && password !== undefined ? [{ organizationId, userId: user.id, password }] : [];
  });
  for (let start = 0; start < missing.length; start += parallelHashes) {
    const batch = missing.slice(start, start + parallelHashes);
    const rows = await Promise.all(
      batch.map(async ({ organizationId, userId, password }) => ({
        organization_id: organizationId,
        user_id: userId,
        password_hash: await passwords.hash(password),
      })),
    );
    await forRows(client, rows, setPasswords);
    report(start + batch.length, missing.length, 'passwords set');
  }
}

/** Each hash uses all cores already; a few at once keep them busy. */
const parallelHashes = 4;

const setPasswords = `
  insert into oauth.credentials (organization_id, user_id, password_hash)
  select organization_id, user_id, password_hash
  from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid, password_hash text)
  on conflict on constraint credentials_pkey do update set password_hash = excluded.password_hash
  where credentials.password_hash is null`;

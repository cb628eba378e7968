import type { ClientBase } from 'pg';
import type { Secrets } from '../crypto/secrets.ts';
import type { Passwords } from '../oauth/passwords.ts';
import type { User } from './document.ts';
import { type Entry, forRows, type Problem, type Report, sync } from './rows.ts';

/** A user of the document as the database has it now. */
export type WrittenUser = { id: string; has_password: boolean };

/**
 * Adds users and changes those that differ; what the document leaves out stays. Sets no password.
 *
 * @returns the users, in order
 * @throws {ProvisioningError} for users that the sync refuses
 */
export async function writeUsers(
  client: ClientBase,
  users: readonly Entry<User>[],
  secrets: Secrets,
  report: Report,
): Promise<WrittenUser[]> {
  const known = await forRows<WrittenUser>(
    client,
    users.map(({ organizationId, value: { externalIdentifier } }) => ({ organizationId, externalIdentifier })),
    readUsers,
  );
  const rows = users.map(({ value, ...entry }, index) => {
    const token = value.externalAuthenticationToken;
    const row = {
      external_identifier: value.externalIdentifier,
      full_name: value.fullName,
      email: value.email,
      locale: value.locale,
      time_zone: value.timeZone,
      external_authentication_token: token && sealFor(known[index]?.id ?? '', token, entry.organizationId, secrets),
    };
    return { ...entry, value: row };
  });
  const ids = await sync(client, 'users', rows, report);
  return known.map((user, index) => ({ ...user, id: ids[index] as string }));
}

/** In the order of the document. A new user's id is made here, since the token is sealed for it. */
const readUsers = `
  select coalesce(u.id, app_hidden.uuid_v7()) as id, c.password_hash is not null as has_password
  from rows from (
    jsonb_to_recordset($1) as ("organizationId" uuid, "externalIdentifier" text)
  ) with ordinality as given (organization_id, external_identifier, position)
  left join app_public.users u
    on u.organization_id = given.organization_id and u.external_identifier = given.external_identifier
  left join oauth.credentials c on c.organization_id = u.organization_id and c.user_id = u.id
  order by given.position`;

/** Tokens that another user has under SECRET_KEY_PREVIOUS: the sync compares hashes under one key. */
export function findTakenTokens(
  client: ClientBase,
  users: readonly Entry<User>[],
  written: readonly WrittenUser[],
  secrets: Secrets,
): Promise<Problem[]> {
  const rows = users.flatMap(({ organizationId, value: { externalAuthenticationToken: token }, path }, index) => {
    const [, previous] = token ? secrets.lookupHashes(token, organizationId) : [];
    if (!previous) return [];
    const row = { organization_id: organizationId, user_id: written[index]?.id, hash: previous.toString('hex') };
    return [{ ...row, path: [...path, 'externalAuthenticationToken'] }];
  });
  return forRows<Problem>(
    client,
    rows,
    `select given.path, 'is taken by another user of the organization' as message
     from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid, hash text, path jsonb)
     join app_public.users u
       on u.organization_id = given.organization_id and u.external_authentication_token_hash = decode(given.hash, 'hex')
     where u.id <> given.user_id`,
  );
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
  written: readonly WrittenUser[],
  passwords: Passwords,
  report: Report,
): Promise<void> {
  const missing = users.flatMap(({ organizationId, value: { password } }, index) => {
    const user = written[index];
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

import type { ClientBase } from 'pg';
import type { Passwords } from '../oauth/passwords.ts';
import type { User } from './document.ts';
import type { Report } from './report.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUser } from './users.ts';

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

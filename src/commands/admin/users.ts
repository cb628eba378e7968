import type { ClientBase, Pool } from 'pg';
import { ownerTransaction } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import type { Passwords } from '../../oauth/passwords.ts';
import * as fields from '../../provisioning/fields.ts';
import { type FoundUser, findUser, type UserName, userNames } from './findUser.ts';

/**
 * `admin set-password`: replaces any earlier one. Signs the person out of browsers; tokens stay.
 *
 * @throws {StartupError} when the password is too short or too long
 */
export async function setPassword(owner: Pool, passwords: Passwords, name: UserName, password: string) {
  const checked = fields.password.safeParse(password);
  if (!checked.success) throw new StartupError(`The password ${checked.error.issues[0]?.message}.`);
  const passwordHash = await passwords.hash(checked.data);
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    await client.query(
      `insert into oauth.credentials (organization_id, user_id, password_hash) values ($1, $2, $3)
       on conflict on constraint credentials_pkey do update set password_hash = excluded.password_hash`,
      [user.organizationId, user.id, passwordHash],
    );
    return { ...userNames(user), sessionsEnded: await endSessions(client, user) };
  });
}

/**
 * `admin disable-user`, `enable-user`: from the next request on.
 * Tokens are refused meanwhile, sessions end.
 */
export function setUserDisabled(owner: Pool, name: UserName, disabled: boolean) {
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    const { rows } = await client.query(
      `insert into oauth.credentials (organization_id, user_id, disabled_at) values ($1, $2, case when $3 then now() end)
       on conflict on constraint credentials_pkey do update
       set disabled_at = case when $3 then coalesce(credentials.disabled_at, excluded.disabled_at) end
       returning disabled_at as "disabledAt"`,
      [user.organizationId, user.id, disabled],
    );
    if (disabled) await endSessions(client, user);
    return { ...userNames(user), ...rows[0] };
  });
}

/** `admin end-user-tokens`: every grant, unused code and session, from the next request on. */
export function endUserTokens(owner: Pool, name: UserName) {
  return ownerTransaction(owner, async (client) => {
    const user = await findUser(client, name);
    await deleteOf(client, user, 'authorization_codes');
    const grantsEnded = await deleteOf(client, user, 'grants');
    return { ...userNames(user), grantsEnded, sessionsEnded: await endSessions(client, user) };
  });
}

const endSessions = (client: ClientBase, user: FoundUser) => deleteOf(client, user, 'sessions');

async function deleteOf(
  client: ClientBase,
  { organizationId, id }: FoundUser,
  table: 'authorization_codes' | 'grants' | 'sessions',
): Promise<number> {
  const deleted = await client.query(`delete from oauth.${table} where organization_id = $1 and user_id = $2`, [
    organizationId,
    id,
  ]);
  return deleted.rowCount ?? 0;
}

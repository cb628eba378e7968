import type { ClientBase } from 'pg';
import type { Secrets } from '../crypto/secrets.ts';
import type { User, UserOutline } from './document.ts';
import type { Problem } from './problem.ts';
import { type Entry, forRows } from './rows.ts';
import { sync } from './sync.ts';

/**
 * A user of the document as the database has it, or will.
 * A new one's id is made up here, for the token that is sealed for it.
 */
export type ExistingUser = { id: string; is_new: boolean; has_password: boolean };

/** In the order of the document's. */
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

/** What only the database can say about them: time zones, and what other users have already. */
export async function findUserProblems(
  client: ClientBase,
  users: readonly Entry<UserOutline>[],
  secrets: Secrets,
): Promise<Problem[]> {
  const inDocument = new Set(users.map(({ organizationId, value }) => `${organizationId} ${value.externalIdentifier}`));
  const zones = await unknownTimeZones(client, users);
  const inUnknownZones = users.flatMap(({ value, path }) => {
    const nearest = zones.get(value.timeZone);
    if (nearest === undefined) return [];
    const message = 'must be an IANA name, such as "Europe/Berlin", or the city alone, such as "Berlin"';
    return [{ path: [...path, 'timeZone'], message: `${message}${nearest && `; did you mean "${nearest}"?`}` }];
  });

  const takenAs = async (field: keyof User, statement: string, rows: readonly object[]): Promise<Problem[]> => {
    const taken = await forRows<{ index: number; holder: string | null }>(client, rows, statement);
    return taken.flatMap(({ index, holder }) => {
      const { organizationId, path } = users[index] as Entry<UserOutline>;
      // Another user of the document is about to change or was compared with this one already.
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
    ...inUnknownZones,
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

/** Each with the nearest that is known, or an empty text; of many, ten have one. */
async function unknownTimeZones(client: ClientBase, users: readonly Entry<UserOutline>[]) {
  const zones = new Set(users.flatMap(({ value }) => value.timeZone ?? []));
  const { rows } = await client.query<{ zone: string; nearest: string }>(
    `with unknown as materialized (select zone from unnest($1::text[]) as zone where not app_hidden.is_time_zone(zone))
     select zone, coalesce(n.nearest, '') as nearest
     from unknown left join app_hidden.nearest_time_zones(array(select zone from unknown)) as n on n.name = zone`,
    [[...zones]],
  );
  return new Map<string | undefined, string>(rows.map(({ zone, nearest }) => [zone, nearest]));
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
  report: (message: string) => void,
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
 * A token as app_public.users_sync takes it.
 * Without its hash under the key before: what is stored under that is sealed anew.
 */
function sealFor(userId: string, token: string, organizationId: string, secrets: Secrets): string {
  const ciphertext = secrets.seal(token, { organizationId, userId }).toString('hex');
  return JSON.stringify({ userId, ciphertext, hash: secrets.lookupHash(token, organizationId).toString('hex') });
}

import type { ClientBase } from 'pg';
import type { Secrets } from '../crypto/secrets.ts';
import type { User, UserOutline } from './document.ts';
import type { Problem } from './problem.ts';
import { type Entry, forRows, rowsOf } from './rows.ts';

/** A user of the document as the database has it, or will. */
export type ExistingUser = {
  /** A new one's id is made up here. */
  id: string;
  is_new: boolean;
  full_name: string | null;
  email: string | null;
  /** By which the database compares e-mail addresses: the present one, and the document's. */
  email_key: string | null;
  wanted_email_key: string | null;
  locale: string | null;
  time_zone: string | null;
  /** In hex. */
  token_hash: string | null;
  has_password: boolean;
};

/** In the order of the document's. */
export function readUsers(client: ClientBase, users: readonly Entry<UserOutline>[]): Promise<ExistingUser[]> {
  const rows = users.map(({ organizationId, value }) => ({
    organization_id: organizationId,
    external_identifier: value.externalIdentifier,
    email: value.email,
  }));
  return forRows<ExistingUser>(
    client,
    rows,
    `select
       coalesce(u.id, app_hidden.uuid_v7()) as id, u.id is null as is_new, u.full_name, u.email, u.locale, u.time_zone,
       u.email_lowercase as email_key, lower(given.email) as wanted_email_key,
       encode(u.external_authentication_token_hash, 'hex') as token_hash, c.password_hash is not null as has_password
     from rows from (
       jsonb_to_recordset($1) as (organization_id uuid, external_identifier text, email text)
     ) with ordinality as given (organization_id, external_identifier, email, position)
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
  join app_public.users u on u.organization_id = given.organization_id and u.email_lowercase = lower(given.email)
  where u.external_identifier is distinct from given.external_identifier`;

const findTakenTokens = `
  select given.index, u.external_identifier as holder
  from jsonb_to_recordset($1) as given (index int, organization_id uuid, external_identifier text, token_hash text)
  join app_public.users u
    on u.organization_id = given.organization_id
    and u.external_authentication_token_hash = decode(given.token_hash, 'hex')
  where u.external_identifier is distinct from given.external_identifier`;

/** Each with the nearest that is known, or an empty text. */
async function unknownTimeZones(client: ClientBase, users: readonly Entry<UserOutline>[]) {
  const zones = new Set(users.flatMap(({ value }) => value.timeZone ?? []));
  const { rows } = await client.query<{ zone: string; nearest: string }>(
    `select given.zone, coalesce(app_hidden.nearest_time_zone(given.zone), '') as nearest
     from unnest($1::text[]) as given (zone)
     where not app_hidden.is_time_zone(given.zone)`,
    [[...zones]],
  );
  return new Map<string | undefined, string>(rows.map(({ zone, nearest }) => [zone, nearest]));
}

/** Adds users and changes those that differ; what the document leaves out stays. Sets no password. */
export async function writeUsers(
  client: ClientBase,
  users: readonly Entry<User>[],
  existing: readonly ExistingUser[],
  secrets: Secrets,
  report: (message: string) => void,
): Promise<void> {
  const wanted = users.map(({ organizationId, value }, index) => {
    const before = existing[index] as ExistingUser;
    return { before, row: toRow(organizationId, value, before, secrets) };
  });
  const added = wanted.filter(({ before }) => before.is_new);
  const changed = wanted.filter((change) => !change.before.is_new && differs(change));

  await makeRoom(client, [...changed, ...added]);
  await forRows(client, rowsOf(changed), updateUsers, (done, all) => report(`${done} of ${all} users changed`));
  await forRows(client, rowsOf(added), insertUsers, (done, all) => report(`${done} of ${all} users added`));
}

/** The columns that a statement reads, and the user before it. */
type Change = { before: ExistingUser; row: ReturnType<typeof toRow> };

function toRow(organizationId: string, user: User, before: ExistingUser, secrets: Secrets) {
  const token = user.externalAuthenticationToken;
  const hash = token ? secrets.lookupHash(token, organizationId).toString('hex') : null;
  const changesToken = token !== undefined && hash !== before.token_hash;
  const sealed = token && changesToken ? secrets.seal(token, { organizationId, userId: before.id }) : null;
  return {
    organization_id: organizationId,
    id: before.id,
    external_identifier: user.externalIdentifier,
    full_name: user.fullName,
    email: user.email,
    locale: user.locale,
    time_zone: user.timeZone,
    changes_token: changesToken,
    token_ciphertext: sealed?.toString('hex'),
    token_hash: hash,
  };
}

function differs({ before, row }: Change): boolean {
  return (
    row.changes_token ||
    row.full_name !== before.full_name ||
    row.email !== before.email ||
    (row.locale ?? before.locale) !== before.locale ||
    (row.time_zone ?? before.time_zone) !== before.time_zone
  );
}

/**
 * Users may swap what is unique: a user whose e-mail address or token another one of the document gets
 * loses it first, until the next statement.
 */
async function makeRoom(client: ClientBase, changes: readonly Change[]): Promise<void> {
  const inOrganization = ({ row }: Change, value: string | null) => `${row.organization_id} ${value}`;

  const wantedEmails = new Set(changes.map((change) => inOrganization(change, change.before.wanted_email_key)));
  const leavesEmail = (change: Change) =>
    change.before.email_key !== change.before.wanted_email_key &&
    wantedEmails.has(inOrganization(change, change.before.email_key));
  await forRows(client, rowsOf(changes.filter(leavesEmail)), parkEmails);

  const wantedTokens = new Set(changes.map((change) => inOrganization(change, change.row.token_hash)));
  const leavesToken = (change: Change) =>
    change.row.changes_token &&
    change.before.token_hash !== null &&
    wantedTokens.has(inOrganization(change, change.before.token_hash));
  await forRows(client, rowsOf(changes.filter(leavesToken)), dropTokens);
}

const parkEmails = `
  update app_public.users u set email = u.id || '@parked.invalid'
  from jsonb_to_recordset($1) as given (organization_id uuid, id uuid)
  where u.organization_id = given.organization_id and u.id = given.id`;

const dropTokens = `
  update app_public.users u
  set external_authentication_token_ciphertext = null, external_authentication_token_hash = null
  from jsonb_to_recordset($1) as given (organization_id uuid, id uuid)
  where u.organization_id = given.organization_id and u.id = given.id`;

const given = `
  jsonb_to_recordset($1) as given (
    organization_id uuid, id uuid, external_identifier text, full_name text, email text, locale text, time_zone text,
    changes_token boolean, token_ciphertext text, token_hash text)`;

const updateUsers = `
  update app_public.users u set
    full_name = given.full_name,
    email = given.email,
    locale = coalesce(given.locale, u.locale),
    time_zone = coalesce(given.time_zone, u.time_zone),
    external_authentication_token_ciphertext = case when given.changes_token
      then decode(given.token_ciphertext, 'hex') else u.external_authentication_token_ciphertext end,
    external_authentication_token_hash = case when given.changes_token
      then decode(given.token_hash, 'hex') else u.external_authentication_token_hash end
  from ${given}
  where u.organization_id = given.organization_id and u.id = given.id`;

const insertUsers = `
  insert into app_public.users (
    organization_id, id, external_identifier, full_name, email, locale, time_zone,
    external_authentication_token_ciphertext, external_authentication_token_hash)
  select
    organization_id, id, external_identifier, full_name, email, coalesce(locale, 'en'), coalesce(time_zone, 'UTC'),
    decode(token_ciphertext, 'hex'), decode(token_hash, 'hex')
  from ${given}`;

import type { ClientBase } from 'pg';
import type { User, UserOutline } from './document.ts';
import type { Path, Problem } from './problem.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUser } from './users.ts';

/** Problems of cards: values for readers that other cards of the organization already have. */
export async function findCardProblems(
  client: ClientBase,
  users: readonly Entry<Pick<UserOutline, 'cards'>>[],
  existing: readonly Pick<ExistingUser, 'id'>[],
): Promise<Problem[]> {
  const wanted = users.flatMap(({ organizationId, value: { cards }, path }, index) =>
    cards.flatMap((card, position) => {
      if (card === undefined) return [];
      const { id } = existing[index] as ExistingUser;
      return [{ organization_id: organizationId, user_id: id, ...card, path: [...path, 'cards', position] }];
    }),
  );
  const inDocument = new Set(wanted.map(keyOf));
  const taken = await forRows<Held & { path: Path }>(client, wanted, findTaken);
  // Another card of the document is about to change, or was already compared with this one.
  return taken
    .filter((holder) => !inDocument.has(keyOf(holder)))
    .map(({ type, path }) => ({
      path: [...path, type === 'NfcCard' ? 'nfcIdentifier' : 'proximityUuid'],
      message: 'is taken by another card of the organization',
    }));
}

/** Gives each user the document's cards: adds new ones, and changes those of the same type and name. */
export async function writeCards(
  client: ClientBase,
  users: readonly Entry<Pick<User, 'cards'>>[],
  existing: readonly Pick<ExistingUser, 'id' | 'is_new'>[],
): Promise<void> {
  const holders = users.flatMap(({ organizationId, value: { cards } }, index) => {
    const { id, is_new } = existing[index] as ExistingUser;
    return cards.length > 0 ? [{ holder: { organization_id: organizationId, user_id: id }, is_new, cards }] : [];
  });
  const old = holders.filter(({ is_new }) => !is_new).map(({ holder }) => holder);
  const held = await forRows<Held & { id: string }>(client, old, readHeld);
  const heldByKey = new Map(held.map((card) => [keyOf(card), card]));
  const wanted = holders.flatMap(({ holder, cards }) => cards.map((card): Held => ({ ...holder, ...card })));
  const rows = wanted.flatMap((card) => {
    const before = heldByKey.get(keyOf(card));
    return before && valuesOf(before) === valuesOf(card) ? [] : [{ ...card, id: before?.id }];
  });
  // Cards of two batches may exchange their values.
  await client.query('set constraints app_public.cards_nfc_identifier_key, app_public.cards_beacon_key deferred');
  await forRows(client, rows, writeRows);
  await client.query('set constraints app_public.cards_nfc_identifier_key, app_public.cards_beacon_key immediate');
}

/** A card with the values of its type, of a user or without one. */
type Held = {
  user_id: string | null;
  type: string;
  name: string;
  proximityUuid?: string | null;
  major?: number | null;
  minor?: number | null;
  nfcIdentifier?: string | null;
};

const keyOf = ({ user_id, type, name }: Held) => `${user_id} ${type} ${name}`;

const valuesOf = ({ proximityUuid, major, minor, nfcIdentifier }: Held) =>
  [proximityUuid, major, minor, nfcIdentifier].join();

/** If two cards have one type and name, the oldest comes last, and is the one that counts. */
const readHeld = `
  select a.user_id, c.id, c.type, c.name, c.proximity_uuid as "proximityUuid", c.major, c.minor,
    c.nfc_identifier as "nfcIdentifier"
  from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid)
  join app_public.card_assignments a on a.organization_id = given.organization_id and a.user_id = given.user_id
  join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
  order by c.id desc`;

/**
 * Cards that already have the values of the given ones, with their holders.
 * Without a holder if {@link readHeld} finds another card of this type and name.
 */
const findTaken = `
  select given.path, c.type, c.name, holder.user_id
  from jsonb_to_recordset($1) as given (
    organization_id uuid, "nfcIdentifier" text, "proximityUuid" uuid, major int, minor int, path jsonb)
  cross join lateral (
    select * from app_public.cards c where c.organization_id = given.organization_id and c.nfc_identifier = given."nfcIdentifier"
    union all
    select * from app_public.cards c
    where c.organization_id = given.organization_id
      and c.proximity_uuid = given."proximityUuid" and c.major = given.major and c.minor = given.minor
  ) as c
  left join lateral (
    select a.user_id
    from app_public.card_assignments a
    where a.organization_id = c.organization_id and a.card_id = c.id
      and not exists (
        select from app_public.card_assignments b
        join app_public.cards other on other.organization_id = b.organization_id and other.id = b.card_id
        where b.organization_id = a.organization_id and b.user_id = a.user_id
          and other.type = c.type and other.name = c.name and other.id < c.id)
  ) as holder on true`;

/** Rows without an id are new cards. */
const writeRows = `
  with given as materialized (
    select app_hidden.uuid_v7() as new_id, card.*
    from jsonb_to_recordset($1) as card (
      organization_id uuid, user_id uuid, id uuid, type text, name text, "proximityUuid" uuid, major int, minor int,
      "nfcIdentifier" text)
  ),
  changed as (
    update app_public.cards c
    set proximity_uuid = "proximityUuid", major = given.major, minor = given.minor, nfc_identifier = "nfcIdentifier"
    from given
    where c.organization_id = given.organization_id and c.id = given.id
  ),
  added as (
    insert into app_public.cards (organization_id, id, type, name, proximity_uuid, major, minor, nfc_identifier)
    select organization_id, new_id, type, name, "proximityUuid", major, minor, "nfcIdentifier" from given where id is null
    returning id
  )
  insert into app_public.card_assignments (organization_id, user_id, card_id)
  select organization_id, user_id, new_id from given join added on added.id = given.new_id`;

import type { ClientBase } from 'pg';
import type { User } from './document.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUser } from './users.ts';

/** Gives each user the document's cards: new ones, and changes to those of the same type and name. */
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
  await forRows(client, rows, writeRows);
}

/** A card of a user, with what its type has. */
type Held = {
  user_id: string;
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

/** Of two of one type and name the first that was made comes last, and counts. */
const readHeld = `
  select a.user_id, c.id, c.type, c.name, c.proximity_uuid as "proximityUuid", c.major, c.minor,
    c.nfc_identifier as "nfcIdentifier"
  from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid)
  join app_public.card_assignments a on a.organization_id = given.organization_id and a.user_id = given.user_id
  join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
  order by c.id desc`;

/** Those without an id are new. */
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
  )
  insert into app_public.card_assignments (organization_id, user_id, card_id)
  select organization_id, user_id, new_id from given where id is null`;

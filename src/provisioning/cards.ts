import type { ClientBase } from 'pg';
import type { Card, User, UserOutline } from './document.ts';
import { type Entry, forRows, type Path, type Problem, type Report, sync } from './rows.ts';
import type { ExistingUser } from './users.ts';

/** Problems of cards: values for readers that other cards of the organization already have, and another type. */
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
  // A card without an identifier may get one.
  const inDocument = new Set(wanted.flatMap((card) => [keyOf(card), nameOf(card)]));
  const taken = await forRows<Held & { path: Path }>(client, wanted, findTaken);
  const ofAnotherType = await forRows<{ path: Path; type: string }>(
    client,
    wanted.filter(isIdentified),
    findOtherTypes,
  );
  return [
    // Another card of the document is about to change, or was already compared with this one.
    ...taken
      .filter((holder) => !inDocument.has(keyOf(holder)) && !inDocument.has(nameOf(holder)))
      .map(({ type, path }) => ({
        path: [...path, type === 'NfcCard' ? 'nfcIdentifier' : 'proximityUuid'],
        message: 'is taken by another card of the organization',
      })),
    ...ofAnotherType.map(({ path, type }) => ({
      path: [...path, 'type'],
      message: `must be "${type}", as the card with this external identifier has it`,
    })),
  ];
}

/** Gives each user the document's cards: adds new ones, and changes those with the same identifier, or of the same type and name. */
export async function writeCards(
  client: ClientBase,
  users: readonly Entry<Pick<User, 'cards' | 'externalIdentifier'>>[],
  existing: readonly Pick<ExistingUser, 'id' | 'is_new'>[],
  report: Report,
): Promise<void> {
  // Cards of two batches may exchange their values.
  await client.query('set constraints app_public.cards_nfc_identifier_key, app_public.cards_beacon_key deferred');
  await writeNamed(client, users, existing);
  await writeIdentified(client, users, existing, report);
  await client.query('set constraints app_public.cards_nfc_identifier_key, app_public.cards_beacon_key immediate');
}

/** Cards without an external identifier are recognised by their holder, type and name. */
async function writeNamed(
  client: ClientBase,
  users: readonly Entry<Pick<User, 'cards'>>[],
  existing: readonly Pick<ExistingUser, 'id' | 'is_new'>[],
): Promise<void> {
  const holders = users.flatMap(({ organizationId, value }, index) => {
    const cards = value.cards.filter((card) => !isIdentified(card));
    const { id, is_new } = existing[index] as ExistingUser;
    return cards.length > 0 ? [{ holder: { organization_id: organizationId, user_id: id }, is_new, cards }] : [];
  });
  const old = holders.filter(({ is_new }) => !is_new).map(({ holder }) => holder);
  const held = await forRows<Held & { id: string }>(client, old, readHeld);
  const heldByKey = new Map(held.map((card) => [nameOf(card), card]));
  const wanted = holders.flatMap(({ holder, cards }) => cards.map((card): Held => ({ ...holder, ...card })));
  const rows = wanted.flatMap((card) => {
    const before = heldByKey.get(nameOf(card));
    return before && valuesOf(before) === valuesOf(card) ? [] : [{ ...card, id: before?.id }];
  });
  await forRows(client, rows, writeRows);
}

/** Cards with an external identifier are written as `cardsSync` writes them; others may have a code, too. */
async function writeIdentified(
  client: ClientBase,
  users: readonly Entry<Pick<User, 'cards' | 'externalIdentifier'>>[],
  existing: readonly Pick<ExistingUser, 'id'>[],
  report: Report,
): Promise<void> {
  const cards = users.flatMap(({ organizationId, value, path }, index) =>
    value.cards.flatMap((card, position) => {
      if (!isIdentified(card)) return [];
      const { id } = existing[index] as ExistingUser;
      return [{ organizationId, user_id: id, user: value, card, path: [...path, 'cards', position] }];
    }),
  );
  if (cards.length === 0) return;
  const rows = cards.map(({ organizationId, user_id, card }) => ({
    organization_id: organizationId,
    user_id,
    ...card,
  }));
  await forRows(client, rows, identifyNamed);
  const entries = cards.map(({ organizationId, user, card, path }) => ({
    organizationId,
    path,
    value: rowOf(card, user),
  }));
  await sync(client, 'cards', entries, report);
  await forRows(
    client,
    rows.filter(({ type }) => type === 'IdentificationCode'),
    assignCodes,
  );
}

/** A row of `cards_sync`: a badge or beacon has this holder alone. */
function rowOf({ type, name, externalIdentifier, ...values }: Card, user: Pick<User, 'externalIdentifier'>) {
  const row = { name, external_identifier: externalIdentifier };
  if (type === 'IdentificationCode') return row;
  const { nfcIdentifier, proximityUuid, major, minor } = values as Partial<Record<string, string | number>>;
  const signal =
    type === 'NfcCard'
      ? { nfc_identifier: nfcIdentifier }
      : { beacon: { proximity_uuid: proximityUuid, major, minor } };
  return { ...row, ...signal, user_external_identifier: user.externalIdentifier };
}

const isIdentified = ({ externalIdentifier }: { externalIdentifier?: string | null | undefined }) =>
  externalIdentifier != null;

/** A card with the values of its type, of a user or without one. */
type Held = {
  organization_id: string;
  user_id: string | null;
  externalIdentifier?: string | null | undefined;
  type: string;
  name: string;
  proximityUuid?: string | null;
  major?: number | null;
  minor?: number | null;
  nfcIdentifier?: string | null;
};

const keyOf = (card: Held) =>
  isIdentified(card) ? `${card.organization_id} ${card.externalIdentifier}` : nameOf(card);
const nameOf = ({ user_id, type, name }: Held) => `${user_id} ${type} ${name}`;

const valuesOf = ({ proximityUuid, major, minor, nfcIdentifier }: Held) =>
  [proximityUuid, major, minor, nfcIdentifier].join();

/** If two cards have one type and name, the oldest comes last, and is the one that counts. */
const readHeld = `
  select a.organization_id, a.user_id, c.id, c.type, c.name, c.proximity_uuid as "proximityUuid", c.major, c.minor,
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
  select given.path, c.organization_id, c.type, c.name, c.external_identifier as "externalIdentifier", holder.user_id
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

/** Cards that are of another type than the document says. */
const findOtherTypes = `
  select given.path, c.type
  from jsonb_to_recordset($1) as given (organization_id uuid, "externalIdentifier" text, type text, path jsonb)
  join app_public.cards c on c.organization_id = given.organization_id and c.external_identifier = given."externalIdentifier"
  where c.type <> given.type`;

/** A card of this holder, type and name gets the external identifier, when it has none and no other card has it. */
const identifyNamed = `
  update app_public.cards c set external_identifier = given."externalIdentifier"
  from (
    select distinct on (c.organization_id, c.id) c.organization_id, c.id, given."externalIdentifier"
    from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid, type text, name text, "externalIdentifier" text)
    join app_public.card_assignments a on a.organization_id = given.organization_id and a.user_id = given.user_id
    join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
    where c.type = given.type and c.name = given.name and c.external_identifier is null
      and not exists (
        select from app_public.cards other
        where other.organization_id = given.organization_id and other.external_identifier = given."externalIdentifier")
    order by c.organization_id, c.id, given."externalIdentifier"
  ) as given
  where c.organization_id = given.organization_id and c.id = given.id`;

const assignCodes = `
  insert into app_public.card_assignments (organization_id, user_id, card_id)
  select given.organization_id, given.user_id, c.id
  from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid, "externalIdentifier" text)
  join app_public.cards c on c.organization_id = given.organization_id and c.external_identifier = given."externalIdentifier"
  on conflict do nothing`;

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

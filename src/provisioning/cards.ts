import type { ClientBase } from 'pg';
import type { Card, User } from './document.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUser } from './users.ts';

/** Gives each user the document's cards: new ones, and changes to those of the same type and name. */
export async function writeCards(
  client: ClientBase,
  users: readonly Entry<Pick<User, 'cards'>>[],
  existing: readonly Pick<ExistingUser, 'id' | 'is_new'>[],
): Promise<void> {
  const holders = users.flatMap(({ organizationId, value }, index) => {
    const user = existing[index];
    return user && value.cards.length > 0 ? [{ organizationId, user, cards: value.cards }] : [];
  });
  const before = await readCards(
    client,
    holders
      .filter(({ user }) => !user.is_new)
      .map(({ organizationId, user }) => ({ organization_id: organizationId, user_id: user.id })),
  );
  const wanted = holders.flatMap(({ organizationId, user, cards }) =>
    cards.map((card) => toChange(organizationId, user.id, card, before.get(key(user.id, card.type, card.name)))),
  );
  await forRows(
    client,
    wanted.filter(({ before }) => !before).map(({ row }) => row),
    addCards,
  );
  await forRows(
    client,
    wanted.filter(differs).map(({ row }) => row),
    updateCards,
  );
}

type CardColumns = {
  type: string;
  name: string;
  proximity_uuid: string | null;
  major: number | null;
  minor: number | null;
  nfc_identifier: string | null;
};

type ExistingCard = CardColumns & { user_id: string; id: string };

/** By user, type and name; of two of one name the first that was made. */
async function readCards(client: ClientBase, users: readonly object[]): Promise<Map<string, ExistingCard>> {
  const cards = await forRows<ExistingCard>(
    client,
    users,
    `select a.user_id, c.id, c.type, c.name, c.proximity_uuid, c.major, c.minor, c.nfc_identifier
     from jsonb_to_recordset($1) as given (organization_id uuid, user_id uuid)
     join app_public.card_assignments a on a.organization_id = given.organization_id and a.user_id = given.user_id
     join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
     order by c.id desc`,
  );
  return new Map(cards.map((card) => [key(card.user_id, card.type, card.name), card]));
}

type Change = {
  before: ExistingCard | undefined;
  row: CardColumns & { organization_id: string; user_id: string; id: string | undefined };
};

function toChange(organizationId: string, userId: string, card: Card, before: ExistingCard | undefined): Change {
  const beacon = card.type === 'BeaconCard' ? card : null;
  const row = {
    organization_id: organizationId,
    user_id: userId,
    id: before?.id,
    type: card.type,
    name: card.name,
    proximity_uuid: beacon?.proximityUuid ?? null,
    major: beacon?.major ?? null,
    minor: beacon?.minor ?? null,
    nfc_identifier: card.type === 'NfcCard' ? card.nfcIdentifier : null,
  };
  return { before, row };
}

function differs({ before, row }: Change): boolean {
  return (
    before !== undefined &&
    (row.proximity_uuid !== before.proximity_uuid ||
      row.major !== before.major ||
      row.minor !== before.minor ||
      row.nfc_identifier !== before.nfc_identifier)
  );
}

const key = (userId: string, type: string, name: string) => `${userId} ${type} ${name}`;

const given = `
  jsonb_to_recordset($1) as given (
    organization_id uuid, user_id uuid, id uuid, type text, name text, proximity_uuid uuid, major int, minor int,
    nfc_identifier text)`;

const addCards = `
  with given as materialized (
    select app_hidden.uuid_v7() as card_id, * from ${given}
  ),
  added as (
    insert into app_public.cards (organization_id, id, type, name, proximity_uuid, major, minor, nfc_identifier)
    select organization_id, card_id, type, name, proximity_uuid, major, minor, nfc_identifier from given
  )
  insert into app_public.card_assignments (organization_id, user_id, card_id)
  select organization_id, user_id, card_id from given`;

const updateCards = `
  update app_public.cards c
  set proximity_uuid = given.proximity_uuid, major = given.major, minor = given.minor, nfc_identifier = given.nfc_identifier
  from ${given}
  where c.organization_id = given.organization_id and c.id = given.id`;

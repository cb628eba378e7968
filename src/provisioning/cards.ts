import type { ClientBase } from 'pg';
import type { User } from './document.ts';
import { type Entry, forRows } from './rows.ts';
import type { ExistingUser } from './users.ts';

/** Gives each user the document's cards: new ones, and changes to those of the same type and name. */
export async function writeCards(
  client: ClientBase,
  users: readonly Entry<Pick<User, 'cards'>>[],
  existing: readonly Pick<ExistingUser, 'id'>[],
): Promise<void> {
  const rows = users.flatMap(({ organizationId, value }, index) =>
    value.cards.map((card) => ({ organization_id: organizationId, user_id: existing[index]?.id, ...card })),
  );
  await forRows(client, rows, writeAll);
}

/** Of a user's cards of one type and name, the first that was made is the one. */
const writeAll = `
  with given as materialized (
    select app_hidden.uuid_v7() as new_id, held.id, card.*
    from jsonb_to_recordset($1) as card (
      organization_id uuid, user_id uuid, type text, name text, "proximityUuid" uuid, major int, minor int,
      "nfcIdentifier" text)
    left join lateral (
      select c.id
      from app_public.card_assignments a
      join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
      where a.organization_id = card.organization_id and a.user_id = card.user_id
        and c.type = card.type and c.name = card.name
      order by c.id
      limit 1
    ) held on true
  ),
  changed as (
    update app_public.cards c
    set proximity_uuid = "proximityUuid", major = given.major, minor = given.minor, nfc_identifier = "nfcIdentifier"
    from given
    where c.organization_id = given.organization_id and c.id = given.id
      and (c.proximity_uuid, c.major, c.minor, c.nfc_identifier) is distinct from
        ("proximityUuid", given.major, given.minor, "nfcIdentifier")
  ),
  added as (
    insert into app_public.cards (organization_id, id, type, name, proximity_uuid, major, minor, nfc_identifier)
    select organization_id, new_id, type, name, "proximityUuid", major, minor, "nfcIdentifier" from given where id is null
  )
  insert into app_public.card_assignments (organization_id, user_id, card_id)
  select organization_id, user_id, new_id from given where id is null`;

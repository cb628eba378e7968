import type { ClientBase } from 'pg';
import type { User } from './document.ts';
import { type Entry, forRows, type Problem } from './rows.ts';
import type { WrittenUser } from './users.ts';

/**
 * Gives each user the document's cards: adds new ones, and changes those that it recognises.
 * A card is recognised by its external identifier; without one by its holder, type and name.
 *
 * @returns the cards that want what another card keeps, or are of another type. Then the caller undoes what was written
 */
export async function writeCards(
  client: ClientBase,
  users: readonly Entry<User>[],
  written: readonly WrittenUser[],
): Promise<Problem[]> {
  const rows = users.flatMap(({ organizationId, value, path }, index) =>
    value.cards.map((card, position) => ({
      ...card,
      organization_id: organizationId,
      user_id: written[index]?.id,
      path: [...path, 'cards', position],
    })),
  );
  // Cards may exchange their values, also those of two batches.
  await client.query('set constraints app_public.cards_nfc_identifier_key, app_public.cards_beacon_key deferred');
  await forRows(client, rows, writeGiven);
  const problems = await forRows<Problem>(client, rows, findConflicts);
  if (problems.length === 0)
    await client.query('set constraints app_public.cards_nfc_identifier_key, app_public.cards_beacon_key immediate');
  return problems;
}

/**
 * Of a holder's cards of one type and name, the first of the document is a card without an identifier, of several the oldest.
 * So such a card may get an identifier. A badge or beacon passes from its holder to the next; a code has several.
 */
const writeGiven = `
  with given as materialized (
    select *, row_number() over (partition by user_id, type, name order by external_identifier is not null, place) = 1 as is_first
    from (
      -- New ids in the order of the document.
      select *, app_hidden.uuid_v7() as new_id
      from rows from (
        jsonb_to_recordset($1) as (
          organization_id uuid, user_id uuid, type text, name text, "externalIdentifier" text, "nfcIdentifier" text, "proximityUuid" uuid,
          major int, minor int)
      ) with ordinality as card (
        organization_id, user_id, type, name, external_identifier, nfc_identifier, proximity_uuid, major, minor, place)
    ) as numbered
  ),
  found as materialized (
    select given.*, coalesce(identified.id, named.id) as id
    from given
    left join app_public.cards identified
      on identified.organization_id = given.organization_id and identified.external_identifier = given.external_identifier
    left join lateral (
      select c.id
      from app_public.card_assignments a
      join app_public.cards c on c.organization_id = a.organization_id and c.id = a.card_id
      where a.organization_id = given.organization_id and a.user_id = given.user_id and c.type = given.type and c.name = given.name
        and (
          c.external_identifier is null and given.is_first
          or given.external_identifier is null and (c.organization_id, c.external_identifier) not in (
            select organization_id, external_identifier from given where external_identifier is not null))
      order by c.external_identifier is not null, c.id
      limit 1
    ) as named on identified.id is null
    where coalesce(identified.type, given.type) = given.type
  ),
  changed as (
    update app_public.cards c
    set (name, external_identifier, nfc_identifier, proximity_uuid, major, minor) = row (
      found.name, coalesce(found.external_identifier, c.external_identifier), found.nfc_identifier, found.proximity_uuid, found.major,
      found.minor)
    from found
    where c.organization_id = found.organization_id and c.id = found.id
      and (c.name, c.external_identifier, c.nfc_identifier, c.proximity_uuid, c.major, c.minor) is distinct from (
        found.name, coalesce(found.external_identifier, c.external_identifier), found.nfc_identifier, found.proximity_uuid, found.major,
        found.minor)
  ),
  added as (
    insert into app_public.cards (
      organization_id, id, external_identifier, type, name, nfc_identifier, proximity_uuid, major, minor)
    select organization_id, new_id, external_identifier, type, name, nfc_identifier, proximity_uuid, major, minor
    from found
    where id is null
    order by place
    returning id
  ),
  passed as (
    delete from app_public.card_assignments a
    using found
    where a.organization_id = found.organization_id and a.card_id = found.id and a.user_id <> found.user_id
      and found.type <> 'IdentificationCode'
    returning a.id
  )
  insert into app_public.card_assignments (organization_id, user_id, card_id)
  select organization_id, user_id, coalesce(id, new_id)
  from found
  -- The new cards are there first, and those that pass on have no holder.
  where (select count(*) from added) + (select count(*) from passed) >= 0
    and not exists (
      select from app_public.card_assignments a
      where a.organization_id = found.organization_id and a.card_id = found.id and a.user_id = found.user_id)
  order by place`;

/** After all cards are written, so that a value which another card of the document has given up is free. */
const findConflicts = `
  with given as (
    select * from jsonb_to_recordset($1) as card (
      organization_id uuid, type text, "externalIdentifier" text, "nfcIdentifier" text, "proximityUuid" uuid, major int, minor int,
      path jsonb)
  )
  select given.path || to_jsonb('type'::text) as path,
    format('must be "%s", as the card with this external identifier has it', c.type) as message
  from given
  join app_public.cards c on c.organization_id = given.organization_id and c.external_identifier = given."externalIdentifier"
  where c.type <> given.type
  union all
  select path || to_jsonb(case type when 'NfcCard' then 'nfcIdentifier' else 'proximityUuid' end),
    'is taken by another card of the organization'
  from given
  where (
    select count(*) from app_public.cards c
    where c.organization_id = given.organization_id and c.nfc_identifier = given."nfcIdentifier") > 1
    or (
      select count(*) from app_public.cards c
      where c.organization_id = given.organization_id and c.proximity_uuid = given."proximityUuid"
        and c.major = given.major and c.minor = given.minor) > 1`;

--! Previous: sha1:184a01647de450471e4efcc9bd10c5a805336e67
--! Hash: sha1:4b968b56834dae1e6af60f5074b178e2d65b53e5
--! Message: cards

-- A card opens something for a person: a beacon in a phone, an NFC chip, a code. Cards are assigned to users.
--
-- The three kinds are rows of one table and types of one interface in the graph; checks say which columns each kind has.
-- What a reader reads of a badge or a beacon leads to one card of the organization, and this card to one person at most: a door must know
-- who is there. A code may be known to several.
--
-- An application sees and changes all cards of its organization. A person sees those that are assigned to them.

-- What a reader hears of a beacon. A function that takes one has one parameter, and a client finds beacons by a list of them.
create type app_public.beacon_input as (proximity_uuid uuid, major int, minor int);
comment on type app_public.beacon_input is 'A beacon, by what it advertises.';
comment on column app_public.beacon_input.proximity_uuid is E'@notNull\nProximity UUID.';
comment on column app_public.beacon_input.major is E'@notNull\nMajor value, 0 to 65535.';
comment on column app_public.beacon_input.minor is E'@notNull\nMinor value, 0 to 65535.';

create table app_public.cards (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  type text not null,
  name text collate "C" not null,
  proximity_uuid uuid,
  major int,
  minor int,
  nfc_identifier text collate "C",
  external_identifier text collate "C",
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint cards_pkey primary key (organization_id, id),
  constraint cards_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
  constraint cards_external_identifier_key unique (organization_id, external_identifier),
  -- Asked at the end of a statement: one that writes many cards may exchange what these are made of.
  constraint cards_nfc_identifier_key unique (organization_id, nfc_identifier) deferrable,
  constraint cards_beacon_key unique (organization_id, proximity_uuid, major, minor) deferrable,
  constraint cards_external_identifier_length check (char_length(external_identifier) between 1 and 200),
  constraint cards_type_known check (type in ('BeaconCard', 'NfcCard', 'IdentificationCode')),
  constraint cards_name_text check (app_hidden.is_text(name)),
  constraint cards_beacon check (
    case when type = 'BeaconCard'
      then proximity_uuid is not null and major is not null and minor is not null
      else proximity_uuid is null and major is null and minor is null
    end),
  constraint cards_nfc check ((type = 'NfcCard') = (nfc_identifier is not null)),
  constraint cards_major_range check (major between 0 and 65535),
  constraint cards_minor_range check (minor between 0 and 65535),
  constraint cards_nfc_identifier_format check (nfc_identifier ~ '^([0-9A-F]{8}|[0-9A-F]{14}|[0-9A-F]{20})$')
);
-- For cards by external identifier: the order takes a missing one for the empty text.
create index cards_external_identifier_order_idx
  on app_public.cards (organization_id, (coalesce(external_identifier, '')), id);

comment on table app_public.cards is
  E'@interface mode:single type:type\n@name card\n'
  '@type BeaconCard name:BeaconCard attributes:proximity_uuid!,major!,minor!\n'
  '@type NfcCard name:NfcCard attributes:nfc_identifier!\n'
  '@type IdentificationCode name:IdentificationCode\n'
  '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName cards|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All cards of the organization.\n'
  'Something that opens for its holder.';
comment on column app_public.cards.type is '@behavior -*';
comment on column app_public.cards.name is 'Name.';
comment on column app_public.cards.proximity_uuid is 'Proximity UUID that the beacon advertises.';
comment on column app_public.cards.major is 'Major value of the beacon, 0 to 65535.';
comment on column app_public.cards.minor is 'Minor value of the beacon, 0 to 65535.';
comment on column app_public.cards.nfc_identifier is E'@filter nfcIdentifiers upperCase\nIdentifier of the NFC chip: 4, 7 or 10 bytes in upper-case hex without separators.';
comment on column app_public.cards.external_identifier is 'Identifier that the client system assigns to the card; unique in the organization, compared exactly.';
comment on column app_public.cards.created_at is 'When the card was added.';
comment on column app_public.cards.updated_at is 'When the card was last changed.';
comment on constraint cards_external_identifier_key on app_public.cards is E'@argument externalIdentifier\nAnother card has this external identifier.';
comment on constraint cards_nfc_identifier_key on app_public.cards is E'@argument nfcIdentifier\nAnother card has this NFC identifier.';
comment on constraint cards_beacon_key on app_public.cards is E'@argument proximityUuid\n@filter beacons {BeaconInput}\nAnother card has this proximity UUID, major and minor value.';
comment on constraint cards_external_identifier_length on app_public.cards is E'@argument externalIdentifier\nAn external identifier has 1 to 200 characters.';
comment on constraint cards_name_text on app_public.cards is E'@argument name\nA name has 1 to 200 characters and no control characters.';
comment on constraint cards_major_range on app_public.cards is E'@argument major\nA major value is from 0 to 65535.';
comment on constraint cards_minor_range on app_public.cards is E'@argument minor\nA minor value is from 0 to 65535.';
comment on constraint cards_nfc_identifier_format on app_public.cards is E'@argument nfcIdentifier\nThe identifier of an NFC chip has 4, 7 or 10 bytes in hex without separators, such as 04A224B2C13A80.';

create table app_public.card_assignments (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  user_id uuid not null,
  card_id uuid not null,
  created_at timestamptz not null default now(),
  is_exclusive boolean not null,
  card_type text not null,
  constraint card_assignments_pkey primary key (organization_id, id),
  constraint card_assignments_card_id_user_id_key unique (organization_id, card_id, user_id),
  constraint card_assignments_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint card_assignments_card_id_fkey foreign key (organization_id, card_id) references app_public.cards on delete cascade
);
-- `cardAssignments` of one user, in the default order.
create index card_assignments_user_id_idx on app_public.card_assignments (organization_id, user_id, id);

-- One holder of a badge or beacon, however many assign it at once.
create unique index card_assignments_card_id_key on app_public.card_assignments (organization_id, card_id) where is_exclusive;

comment on table app_public.card_assignments is
  E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName cardAssignments|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All card assignments of the organization.\n'
  'A card in the hands of a user.';
comment on column app_public.card_assignments.created_at is 'When the card was assigned.';
comment on column app_public.card_assignments.is_exclusive is E'@behavior -*\nWhether the card has one holder at most: it is no identification code. Written by a trigger.';
comment on column app_public.card_assignments.card_type is E'@behavior -*\nThe type of the card, which its id in the graph begins with. Written by a trigger.';
comment on index app_public.card_assignments_card_id_key is E'@argument cardId\nAnother user has this card.';
comment on constraint card_assignments_user_id_fkey on app_public.card_assignments is
  E'@fieldName user\n@foreignFieldName cardAssignments\n@listSuffix omit\n@notNull\n@backwardBehavior -connection +list\n@forwardDescription Who has the card.\n@backwardDescription Cards that are assigned to the user.';
comment on constraint card_assignments_card_id_fkey on app_public.card_assignments is
  E'@fieldName card\n@relatedType card_type\n@foreignFieldName cardAssignments\n@listSuffix omit\n@notNull\n@backwardBehavior -connection +list\n@forwardDescription The card.\n@backwardDescription To whom the card is assigned.';

alter table app_public.card_assignments enable row level security, force row level security;
create policy all_graph_admin on app_public.card_assignments for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.card_assignments is 'Administration assigns and withdraws cards.';
create policy select_graph_app on app_public.card_assignments for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.card_assignments is 'An application reads all card assignments of its organization.';
create policy select_graph_user on app_public.card_assignments for select to graph_user
  using (organization_id = (select app_hidden.current_organization_id()) and user_id = (select app_hidden.current_user_id()));
comment on policy select_graph_user on app_public.card_assignments is 'A person sees the own card assignments.';
create policy select_graph_basic on app_public.card_assignments for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.card_assignments is 'A basic token reads no row.';
create policy insert_graph_app on app_public.card_assignments for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.card_assignments is 'An application assigns cards in its own organization only.';
create policy delete_graph_app on app_public.card_assignments for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.card_assignments is 'An application withdraws cards in its organization.';
grant select, insert, update, delete on app_public.card_assignments to graph_admin;
grant select on app_public.card_assignments to graph_app, graph_user, graph_basic;
grant insert (organization_id, user_id, card_id), delete on app_public.card_assignments to graph_app;

alter table app_public.cards enable row level security, force row level security;
create policy all_graph_admin on app_public.cards for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.cards is 'Administration sees and changes every card.';
create policy select_graph_app on app_public.cards for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.cards is 'An application reads all cards of its organization.';
-- The subquery runs under the person's own policy on card_assignments, which leaves the own ones.
create policy select_graph_user on app_public.cards for select to graph_user
  using (
    organization_id = (select app_hidden.current_organization_id())
    and id = any (array(select card_id from app_public.card_assignments)));
comment on policy select_graph_user on app_public.cards is 'A person sees the cards that are assigned to them.';
create policy select_graph_basic on app_public.cards for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.cards is 'A basic token reads no row.';
create policy insert_graph_app on app_public.cards for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.cards is 'An application adds cards to its own organization only.';
create policy update_graph_app on app_public.cards for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.cards is 'An application changes cards of its organization.';
create policy delete_graph_app on app_public.cards for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.cards is 'An application deletes cards of its organization.';
grant select, insert, update, delete on app_public.cards to graph_admin;
grant select on app_public.cards to graph_app, graph_user, graph_basic;
-- Absent on purpose: an update of the type, on which it depends who may have the card.
grant
    insert (organization_id, type, name, external_identifier, proximity_uuid, major, minor, nfc_identifier),
    update (name, external_identifier, proximity_uuid, major, minor, nfc_identifier), delete
  on app_public.cards to graph_app;
create trigger cards_900_updated before update on app_public.cards
  for each row execute function app_hidden.set_updated_at();

-- The type of a card says whether others may hold it, too. A type that could change would leave assignments that say otherwise.
create function app_hidden.cards_keep_type() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  begin
    raise exception 'The type of a card does not change' using errcode = 'feature_not_supported', hint = 'Delete the card, and add another.';
  end
  $$;
comment on function app_hidden.cards_keep_type() is 'Keeps the type of a card as it is.';
create trigger cards_100_keep_type before update of type on app_public.cards
  for each row when (old.type <> new.type) execute function app_hidden.cards_keep_type();

-- With the rights of its writer. Of another organization the policy rejects the row, which has no value then.
create function app_hidden.card_assignments_place() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp
  as $$
  begin
    new.card_type = (select c.type from app_public.cards c where c.organization_id = new.organization_id and c.id = new.card_id);
    new.is_exclusive = new.card_type <> 'IdentificationCode';
    if new.is_exclusive is null and new.organization_id = app_hidden.current_organization_id() then
      raise exception 'The card of an assignment does not exist'
        using errcode = 'foreign_key_violation', constraint = 'card_assignments_card_id_fkey', schema = 'app_public', table = 'card_assignments';
    end if;
    return new;
  end
  $$;
comment on function app_hidden.card_assignments_place() is 'Notes the type of the card of an assignment, and whether it has one holder at most.';
create trigger card_assignments_100_place before insert or update of card_id, is_exclusive, card_type on app_public.card_assignments
  for each row execute function app_hidden.card_assignments_place();

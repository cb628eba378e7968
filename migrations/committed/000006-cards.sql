--! Previous: sha1:7454ed5da537c47960f9d599f07fbd2ca5cb241f
--! Hash: sha1:4a6d60a3bada51f3b2446f3f85c10a5e2dd1bfe8
--! Message: cards

-- A card opens something for a person: a beacon in a phone, an NFC chip, a code. Cards are assigned to users.

drop policy if exists select_graph_user on app_public.cards;
drop table if exists app_public.card_assignments;
drop table if exists app_public.cards;

create table app_public.cards (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  type text not null,
  name text not null,
  proximity_uuid uuid,
  major int,
  minor int,
  nfc_identifier text,
  constraint cards_pkey primary key (organization_id, id),
  constraint cards_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
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
comment on table app_public.cards is E'@interface mode:single type:type\n@name card\n@type BeaconCard name:BeaconCard attributes:proximity_uuid!,major!,minor!\n@type NfcCard name:NfcCard attributes:nfc_identifier!\n@type IdentificationCode name:IdentificationCode\nSomething that opens for its holder.';
comment on column app_public.cards.type is '@behavior -*';
comment on column app_public.cards.name is 'Name.';
comment on column app_public.cards.proximity_uuid is 'Proximity UUID that the beacon advertises.';
comment on column app_public.cards.major is 'Major value of the beacon, 0 to 65535.';
comment on column app_public.cards.minor is 'Minor value of the beacon, 0 to 65535.';
comment on column app_public.cards.nfc_identifier is 'Identifier of the NFC chip: 4, 7 or 10 bytes in upper-case hex.';

create table app_public.card_assignments (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  user_id uuid not null,
  card_id uuid not null,
  constraint card_assignments_pkey primary key (organization_id, id),
  constraint card_assignments_card_id_user_id_key unique (organization_id, card_id, user_id),
  constraint card_assignments_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint card_assignments_card_id_fkey foreign key (organization_id, card_id) references app_public.cards on delete cascade
);
-- `cardAssignments` of one user, in the default order.
create index card_assignments_user_id_idx on app_public.card_assignments (organization_id, user_id, id);
comment on constraint card_assignments_user_id_fkey on app_public.card_assignments is E'@fieldName user\n@foreignFieldName cardAssignments\n@listSuffix omit\n@forwardBehavior -single\n@backwardBehavior -connection +list\n@backwardDescription Cards that are assigned to the user.';
comment on constraint card_assignments_card_id_fkey on app_public.card_assignments is E'@fieldName card\n@notNull\n@backwardBehavior -connection -list\n@forwardDescription The card.';
comment on table app_public.card_assignments is 'A card in the hands of a user.';

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
grant select, insert, update, delete on app_public.card_assignments to graph_admin;
grant select on app_public.card_assignments to graph_app, graph_user, graph_basic;

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
grant select, insert, update, delete on app_public.cards to graph_admin;
grant select on app_public.cards to graph_app, graph_user, graph_basic;

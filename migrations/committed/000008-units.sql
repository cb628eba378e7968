--! Previous: sha1:4ccd404ae0d9e677fed4ffc4e034d3b12cc219fa
--! Hash: sha1:8a494eca57d0ae014b5b265e916ad9cbfea1be61
--! Message: units

-- Units form a tree. Access granted to a unit covers its whole subtree.
--
-- Each unit carries the ids of its ancestors, itself last, so that a policy decides about a unit from its own row.
-- These ids decide who may enter: triggers alone write them (the next file).
-- An application sees and changes all units of its organization. What a person sees follows from the grants (the file of access).

create table app_public.units (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  parent_id uuid,
  external_identifier text collate "C",
  name text collate "C" not null,
  ancestor_ids uuid[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint units_pkey primary key (organization_id, id),
  constraint units_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
  constraint units_parent_id_fkey foreign key (organization_id, parent_id) references app_public.units,
  constraint units_external_identifier_key unique (organization_id, external_identifier),
  constraint units_external_identifier_length check (char_length(external_identifier) between 1 and 200),
  constraint units_name_text check (app_hidden.is_text(name)),
  constraint units_ancestor_ids_path check (
    ancestor_ids[cardinality(ancestor_ids)] = id
    and ancestor_ids[cardinality(ancestor_ids) - 1] is not distinct from parent_id)
);
-- `children` of one unit in the default order.
create index units_parent_id_idx on app_public.units (organization_id, parent_id, id);
-- `rootUnits`.
create index units_root_idx on app_public.units (organization_id, id) where parent_id is null;
-- Order by name, page by page.
create index units_name_idx on app_public.units (organization_id, name, id);
-- Counting and sorting what a person may access, when that is little.
create index units_ancestor_ids_idx on app_public.units using gin (ancestor_ids);
-- For units by external identifier: the order takes a missing one for the empty text.
create index units_external_identifier_order_idx
  on app_public.units (organization_id, (coalesce(external_identifier, '')), id);

comment on table app_public.units is
  E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName units|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All units of the organization.\n'
  '@connection App.rootUnits|@where child.parent_id is null|@description Units at the top of the hierarchy.\n'
  '@connection User.accessibleUnits|@where child.ancestor_ids && array(select unit_id from app_hidden.unit_access where organization_id = parent.organization_id and user_id = parent.id and (valid_from is null or valid_from <= (select app_hidden.current_moment())) and (valid_until is null or valid_until > (select app_hidden.current_moment())))|@description Every unit that the user may enter: those granted, and all below them.\n'
  'A unit in the tree of an organization.';
comment on column app_public.units.external_identifier is 'Identifier that the client system assigns to the unit; unique in the organization, compared exactly.';
comment on column app_public.units.name is 'Name.';
comment on column app_public.units.ancestor_ids is E'@behavior -*\nFrom the root to this unit, both included. Kept by triggers.';
comment on column app_public.units.created_at is 'When the unit was added.';
comment on column app_public.units.updated_at is 'When the unit itself was last changed: moving a unit above it is no change.';
comment on constraint units_parent_id_fkey on app_public.units is E'@fieldName parent\n@foreignFieldName children\n@forwardDescription The unit above; null at the top, or when the token may not see it.\n@backwardDescription Units directly below.';
comment on constraint units_external_identifier_key on app_public.units is E'@argument externalIdentifier\nAnother unit has this external identifier.';
comment on constraint units_external_identifier_length on app_public.units is E'@argument externalIdentifier\nAn external identifier has 1 to 200 characters.';
comment on constraint units_name_text on app_public.units is E'@argument name\nA name has 1 to 200 characters and no control characters.';

alter table app_public.units enable row level security, force row level security;
create policy all_graph_admin on app_public.units for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.units is 'Administration sees and changes every unit.';
create policy select_graph_app on app_public.units for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.units is 'An application reads all units of its organization.';
create policy select_graph_basic on app_public.units for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.units is 'A basic token reads no row.';
create policy insert_graph_app on app_public.units for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.units is 'An application adds units to its own organization only.';
create policy update_graph_app on app_public.units for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.units is 'An application changes and moves units of its organization.';
create policy delete_graph_app on app_public.units for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.units is 'An application deletes units of its organization.';
grant select, insert, update, delete on app_public.units to graph_admin;
grant select on app_public.units to graph_app, graph_user, graph_basic;
-- Absent on purpose: ancestor_ids, which decide who may enter. Triggers write them.
-- Units of one sync refer to each other before they are written, and so give their ids.
grant insert (organization_id, id, parent_id, external_identifier, name), update (parent_id, external_identifier, name), delete
  on app_public.units to graph_app;

-- graph_helper writes the ancestors of what is below a unit that moves, and may write nothing else of it.
create trigger units_900_updated before update on app_public.units
  for each row when (current_user <> 'graph_helper') execute function app_hidden.set_updated_at('ancestor_ids');

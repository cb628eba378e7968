create table app_public.units (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  parent_id uuid,
  external_identifier text collate "C",
  name text collate "C" not null,
  ancestor_ids uuid[] not null,
  created_at timestamp with time zone default now() not null,
  updated_at timestamp with time zone default now() not null,
  constraint units_pkey PRIMARY KEY (organization_id, id),
  constraint units_external_identifier_key UNIQUE (organization_id, external_identifier),
  constraint units_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id),
  constraint units_parent_id_fkey FOREIGN KEY (organization_id, parent_id) REFERENCES app_public.units(organization_id, id),
  constraint units_ancestor_ids_path CHECK (ancestor_ids[cardinality(ancestor_ids)] = id AND NOT ancestor_ids[cardinality(ancestor_ids) - 1] IS DISTINCT FROM parent_id),
  constraint units_external_identifier_length CHECK (char_length(external_identifier) >= 1 AND char_length(external_identifier) <= 200),
  constraint units_name_text CHECK (app_hidden.is_text(name))
);
comment on table app_public.units is '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName units|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All units of the organization.
@connection App.rootUnits|@where child.parent_id is null|@description Units at the top of the hierarchy.
@connection User.accessibleUnits|@where child.ancestor_ids && array(select unit_id from app_hidden.unit_access where organization_id = parent.organization_id and user_id = parent.id and (valid_from is null or valid_from <= (select app_hidden.current_moment())) and (valid_until is null or valid_until > (select app_hidden.current_moment())))|@description Every unit that the user may enter: those granted, and all below them.
A unit in the tree of an organization.';
comment on column app_public.units.external_identifier is 'Identifier that the client system assigns to the unit; unique in the organization, compared exactly.';
comment on column app_public.units.name is 'Name.';
comment on column app_public.units.ancestor_ids is '@behavior -*
From the root to this unit, both included. Kept by triggers.';
comment on column app_public.units.created_at is 'When the unit was added.';
comment on column app_public.units.updated_at is 'When the unit itself was last changed: moving a unit above it is no change.';

comment on constraint units_external_identifier_key on app_public.units is '@argument externalIdentifier
Another unit has this external identifier.';

comment on constraint units_external_identifier_length on app_public.units is '@argument externalIdentifier
An external identifier has 1 to 200 characters.';

comment on constraint units_name_text on app_public.units is '@argument name
A name has 1 to 200 characters and no control characters.';

comment on constraint units_parent_id_fkey on app_public.units is '@fieldName parent
@foreignFieldName children
@forwardDescription The unit above; null at the top, or when the token may not see it.
@backwardDescription Units directly below.';

alter table app_public.units enable row level security, force row level security;

CREATE INDEX units_ancestor_ids_idx ON app_public.units USING gin (ancestor_ids);

CREATE INDEX units_external_identifier_order_idx ON app_public.units USING btree (organization_id, COALESCE(external_identifier, ''::text), id);

CREATE INDEX units_name_idx ON app_public.units USING btree (organization_id, name, id);

CREATE INDEX units_parent_id_idx ON app_public.units USING btree (organization_id, parent_id, id);

CREATE INDEX units_root_idx ON app_public.units USING btree (organization_id, id) WHERE parent_id IS NULL;

create policy all_graph_admin on app_public.units for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_public.units is 'Administration sees and changes every unit.';

create policy delete_graph_app on app_public.units for delete to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy delete_graph_app on app_public.units is 'An application deletes units of its organization.';

create policy insert_graph_app on app_public.units for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_public.units is 'An application adds units to its own organization only.';

create policy select_graph_app on app_public.units for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_public.units is 'An application reads all units of its organization.';

create policy select_graph_basic on app_public.units for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_public.units is 'A basic token reads no row.';

create policy select_graph_helper on app_public.units for select to graph_helper
  using (true);
comment on policy select_graph_helper on app_public.units is 'The trigger that moves subtrees reads the tree.';

create policy select_graph_user on app_public.units for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND ancestor_ids && (( SELECT app_hidden.granted_unit_ids() AS granted_unit_ids)));
comment on policy select_graph_user on app_public.units is 'A person sees the units granted to them and everything below these.';

create policy update_graph_app on app_public.units for update to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_app on app_public.units is 'An application changes and moves units of its organization.';

create policy update_graph_helper on app_public.units for update to graph_helper
  using (true)
  with check (true);
comment on policy update_graph_helper on app_public.units is 'The trigger that moves subtrees writes ancestors; it may write no other column.';

CREATE TRIGGER audit_columns AFTER UPDATE OF ancestor_ids, created_at, updated_at ON app_public.units FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON app_public.units REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ddd');

CREATE TRIGGER audit_insert AFTER INSERT ON app_public.units REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ddd');

CREATE TRIGGER audit_update AFTER UPDATE ON app_public.units FOR EACH ROW WHEN (CURRENT_USER <> 'graph_helper'::name AND old.* *<> new.*) EXECUTE FUNCTION audit.record_update('ddd');

CREATE TRIGGER follow_columns AFTER UPDATE OF ancestor_ids ON app_public.units FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER follow_delete AFTER DELETE ON app_public.units REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.units', 'DELETE', '', '{parent_id}', 'id');

CREATE TRIGGER follow_insert AFTER INSERT ON app_public.units REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.units', 'CREATE', '', '{parent_id}', 'id');

CREATE TRIGGER follow_update AFTER UPDATE ON app_public.units FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_update('app_public.units', '', '1', '{parent_id}', 'id');

CREATE TRIGGER units_100_lock_tree BEFORE INSERT OR DELETE OR UPDATE OF parent_id ON app_public.units FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_lock_tree();

CREATE TRIGGER units_200_place BEFORE INSERT OR UPDATE OF parent_id ON app_public.units FOR EACH ROW EXECUTE FUNCTION app_hidden.units_place();

CREATE TRIGGER units_300_delete_ancestors AFTER DELETE ON app_public.units REFERENCING OLD TABLE AS deleted FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_delete_ancestors();

CREATE TRIGGER units_300_insert_ancestors AFTER INSERT ON app_public.units REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_insert_ancestors();

CREATE TRIGGER units_300_move_subtrees AFTER UPDATE ON app_public.units REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION app_hidden.units_move_subtrees();

CREATE TRIGGER units_900_updated BEFORE UPDATE ON app_public.units FOR EACH ROW WHEN (CURRENT_USER <> 'graph_helper'::name) EXECUTE FUNCTION app_hidden.set_updated_at('ancestor_ids');

grant delete, insert, select, update on app_public.units to graph_admin;
grant delete, insert (organization_id, id, parent_id, external_identifier, name), select, update (parent_id, external_identifier, name) on app_public.units to graph_app;
grant select on app_public.units to graph_basic;
grant select (organization_id, id, parent_id, ancestor_ids), update (ancestor_ids) on app_public.units to graph_helper;
grant select on app_public.units to graph_user;

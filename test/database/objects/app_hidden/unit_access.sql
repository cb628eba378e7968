create table app_hidden.unit_access (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  user_id uuid not null,
  unit_id uuid not null,
  source text collate "C",
  valid_from timestamp with time zone,
  valid_until timestamp with time zone,
  created_at timestamp with time zone default now() not null,
  constraint unit_access_pkey PRIMARY KEY (organization_id, id),
  constraint unit_access_user_id_unit_id_source_key UNIQUE NULLS NOT DISTINCT (organization_id, user_id, unit_id, source) INCLUDE (valid_from, valid_until),
  constraint unit_access_unit_id_fkey FOREIGN KEY (organization_id, unit_id) REFERENCES app_public.units(organization_id, id) ON DELETE CASCADE,
  constraint unit_access_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE,
  constraint unit_access_source_length CHECK (char_length(source) >= 1 AND char_length(source) <= 200),
  constraint unit_access_validity CHECK (valid_until > valid_from)
);
comment on table app_hidden.unit_access is 'Access granted to a person: to the unit and to everything below it.';
comment on column app_hidden.unit_access.source is 'The system that has given it, compared exactly; null when it was given by hand.';
comment on column app_hidden.unit_access.valid_from is 'From when it gives access; null for ever since.';
comment on column app_hidden.unit_access.valid_until is 'Until when, exclusive, it gives access; null for ever.';

comment on constraint unit_access_source_length on app_hidden.unit_access is '@argument source
A source has 1 to 200 characters.';

comment on constraint unit_access_validity on app_hidden.unit_access is '@argument validUntil
A grant ends after it begins.';

alter table app_hidden.unit_access enable row level security, force row level security;

CREATE INDEX unit_access_unit_id_idx ON app_hidden.unit_access USING btree (organization_id, unit_id, id) INCLUDE (user_id, valid_from, valid_until);

CREATE INDEX unit_access_user_id_idx ON app_hidden.unit_access USING btree (organization_id, user_id, id);

create policy all_graph_admin on app_hidden.unit_access for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.unit_access is 'Administration grants and withdraws access.';

create policy delete_graph_app on app_hidden.unit_access for delete to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy delete_graph_app on app_hidden.unit_access is 'An application revokes access to units of its organization.';

create policy insert_graph_app on app_hidden.unit_access for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_hidden.unit_access is 'An application grants access to units of its own organization only.';

create policy select_graph_app on app_hidden.unit_access for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_hidden.unit_access is 'An application sees who may enter which unit of its organization.';

create policy select_graph_basic on app_hidden.unit_access for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_hidden.unit_access is 'A basic token reads no row.';

create policy select_graph_user on app_hidden.unit_access for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND user_id = (( SELECT app_hidden.current_user_id() AS current_user_id)) AND (valid_from IS NULL OR valid_from <= (( SELECT app_hidden.current_moment() AS current_moment))) AND (valid_until IS NULL OR valid_until > (( SELECT app_hidden.current_moment() AS current_moment))));
comment on policy select_graph_user on app_hidden.unit_access is 'A person sees the own grants within their time; every rule about units is built on them.';

create policy update_graph_app on app_hidden.unit_access for update to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_app on app_hidden.unit_access is 'An application changes the time of grants of its organization, and nothing else of them.';

CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, created_at ON app_hidden.unit_access FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON app_hidden.unit_access REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd');

CREATE TRIGGER audit_insert AFTER INSERT ON app_hidden.unit_access REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('pd');

CREATE TRIGGER audit_update AFTER UPDATE ON app_hidden.unit_access FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('pd');

CREATE TRIGGER follow_delete AFTER DELETE ON app_hidden.unit_access REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.access_grants', 'DELETE', '', '{unit_id,user_id}', 'id');

CREATE TRIGGER follow_insert AFTER INSERT ON app_hidden.unit_access REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION feed.record_rows('app_public.access_grants', 'CREATE', '', '{unit_id,user_id}', 'id');

CREATE TRIGGER follow_update AFTER UPDATE ON app_hidden.unit_access FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION feed.record_update('app_public.access_grants', '', '0', '{unit_id,user_id}', 'id');

grant delete, insert, select, update on app_hidden.unit_access to graph_admin;
grant delete, insert (organization_id, user_id, unit_id, source, valid_from, valid_until), select, update (valid_from, valid_until) on app_hidden.unit_access to graph_app;
grant select on app_hidden.unit_access to graph_basic;
grant select on app_hidden.unit_access to graph_user;

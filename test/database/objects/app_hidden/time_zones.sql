create table app_hidden.time_zones (
  name text collate "C" not null,
  key text collate "C" generated always as (app_hidden.time_zone_key(name)) stored not null,
  constraint time_zones_pkey PRIMARY KEY (name)
);
comment on table app_hidden.time_zones is 'Accepted time zones: IANA names (Europe/Berlin), their cities alone (Berlin, New York), and other cities of theirs (Beijing).';
comment on column app_hidden.time_zones.key is 'The name as app_hidden.time_zone_key has it.';

alter table app_hidden.time_zones enable row level security, force row level security;

CREATE INDEX time_zones_key_idx ON app_hidden.time_zones USING btree (key);

create policy all_graph_admin on app_hidden.time_zones for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.time_zones is 'Administration keeps the list.';

create policy select_graph_app on app_hidden.time_zones for select to graph_app
  using ((( SELECT app_hidden.current_organization_id() AS current_organization_id)) IS NOT NULL);
comment on policy select_graph_app on app_hidden.time_zones is 'An application reads the list of time zones, which is the same for all organizations.';

grant delete, insert, select, update on app_hidden.time_zones to graph_admin;
grant select on app_hidden.time_zones to graph_app;

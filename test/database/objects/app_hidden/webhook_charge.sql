create table app_hidden.webhook_charge (
  is_only boolean default true not null,
  system_identifier bigint not null,
  database_oid oid not null,
  directory text,
  constraint webhook_charge_pkey PRIMARY KEY (is_only),
  constraint webhook_charge_one CHECK (is_only)
);
comment on table app_hidden.webhook_charge is 'The database that sends webhooks; in a copy of it, another one. A promoted standby is the same.';
comment on column app_hidden.webhook_charge.system_identifier is 'Its cluster, pg_control_system().';
comment on column app_hidden.webhook_charge.database_oid is 'Its oid in there; 0 in a copy of its directory.';
comment on column app_hidden.webhook_charge.directory is 'The embedded database''s directory as its service last saw it: inode and time of birth.';

alter table app_hidden.webhook_charge enable row level security, force row level security;

create policy all_graph_admin on app_hidden.webhook_charge for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.webhook_charge is 'Administration takes charge.';

create policy select_graph_worker on app_hidden.webhook_charge for select to graph_worker
  using (true);
comment on policy select_graph_worker on app_hidden.webhook_charge is 'The worker asks whether it may send.';

grant delete, insert, select, update on app_hidden.webhook_charge to graph_admin;
grant select on app_hidden.webhook_charge to graph_worker;

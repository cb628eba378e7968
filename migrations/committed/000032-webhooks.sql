--! Previous: sha1:5a1e3f1da34f92d03cf0190dd16a5ca901d872e4
--! Hash: sha1:63eb968e901e9bc6f73c4c3ac3a5daef09dd85b4
--! Message: webhooks

-- Webhooks follow the change feed, and the service sends the changes. Each has a cursor of its own, so that a write costs nothing more.
-- A worker copies the next changes after the cursor to app_public.webhook_deliveries, in one transaction with the cursor, and sends them.
-- So a change is sent at least once, however often the worker is killed.
--
-- The worker has a role of its own, graph_worker. Its queue is app_hidden.webhook_positions: a worker leases the webhook that it sends for.

create table app_public.webhooks (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  url text not null,
  type_names text[],
  enabled boolean not null default true,
  secret_ciphertext bytea not null,
  previous_secret_ciphertext bytea,
  previous_valid_until timestamptz,
  created_at timestamptz not null default statement_timestamp(),
  constraint webhooks_pkey primary key (organization_id, id),
  constraint webhooks_organization_id_fkey foreign key (organization_id) references app_hidden.organizations on delete cascade,
  constraint webhooks_url_length check (length(url) between 1 and 2000),
  constraint webhooks_type_names_count check (cardinality(type_names) between 1 and 100 and array_position(type_names, null) is null),
  constraint webhooks_secret_ciphertext_length check (octet_length(secret_ciphertext) between 28 and 200),
  constraint webhooks_previous_secret_ciphertext_length check (octet_length(previous_secret_ciphertext) between 28 and 200),
  constraint webhooks_previous_secret_complete check ((previous_secret_ciphertext is null) = (previous_valid_until is null))
);
comment on table app_public.webhooks is
  E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName webhooks|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All webhooks of the organization.\n'
  'A URL that changes are sent to, as Standard Webhooks say.';
comment on column app_public.webhooks.url is E'@behavior -orderBy\nWhere changes are sent to.';
comment on column app_public.webhooks.type_names is E'@behavior -*\nThe types whose changes are sent; null for all.';
comment on column app_public.webhooks.enabled is E'@behavior -orderBy\nWhether changes are sent. What was not sent meanwhile is sent afterwards.';
comment on column app_public.webhooks.secret_ciphertext is E'@behavior -*\nWhat deliveries are signed with, AES-256-GCM under SECRET_KEY; only the service can read it.';
comment on column app_public.webhooks.previous_secret_ciphertext is E'@behavior -*\nThe secret before, which signs, too, until previous_valid_until.';
comment on column app_public.webhooks.previous_valid_until is E'@behavior -*\nHow long the secret before signs, too.';
comment on column app_public.webhooks.created_at is E'@behavior -orderBy\nWhen it was created. Changes from then on are sent.';
comment on constraint webhooks_url_length on app_public.webhooks is E'@argument url\nA URL has at most 2,000 characters.';
comment on constraint webhooks_type_names_count on app_public.webhooks is E'@argument typeNames\nName one type or more, or leave typeNames out for all.';

alter table app_public.webhooks enable row level security, force row level security;
create policy all_graph_admin on app_public.webhooks for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.webhooks is 'Administration sees and changes every webhook.';
create policy select_graph_app on app_public.webhooks for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.webhooks is 'An application sees the webhooks of its organization.';
create policy insert_graph_app on app_public.webhooks for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_public.webhooks is 'An application adds webhooks to its own organization only.';
create policy update_graph_app on app_public.webhooks for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.webhooks is 'An application changes the webhooks of its organization.';
create policy delete_graph_app on app_public.webhooks for delete to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy delete_graph_app on app_public.webhooks is 'An application deletes webhooks of its organization.';
create policy select_graph_user on app_public.webhooks for select to graph_user using (false);
comment on policy select_graph_user on app_public.webhooks is 'A person sees no webhook.';
create policy select_graph_basic on app_public.webhooks for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.webhooks is 'A basic token reads no row.';
create policy select_graph_worker on app_public.webhooks for select to graph_worker using (true);
comment on policy select_graph_worker on app_public.webhooks is 'The worker sends for every organization.';
create policy update_graph_worker on app_public.webhooks for update to graph_worker
  using (organization_id = (select app_hidden.current_organization_id())) with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_worker on app_public.webhooks is 'The worker disables a webhook whose receiver is gone for good (410).';
grant select, insert, update, delete on app_public.webhooks to graph_admin;
grant select, insert (organization_id, id, url, type_names, secret_ciphertext),
  update (url, type_names, enabled, secret_ciphertext, previous_secret_ciphertext, previous_valid_until), delete
  on app_public.webhooks to graph_app;
grant select (organization_id, id, url, type_names, enabled, created_at) on app_public.webhooks to graph_user, graph_basic;
grant select, update (enabled) on app_public.webhooks to graph_worker;

-- Apart from the webhook, which only clients change, so that its history is theirs.
create table app_hidden.webhook_positions (
  organization_id uuid not null,
  webhook_id uuid not null,
  origin bigint not null,
  horizon xid8 not null,
  change_id bigint not null,
  at timestamptz not null,
  leased_until timestamptz,
  constraint webhook_positions_pkey primary key (organization_id, webhook_id),
  constraint webhook_positions_webhook_id_fkey foreign key (organization_id, webhook_id) references app_public.webhooks on delete cascade
);
comment on table app_hidden.webhook_positions is 'How far each webhook has followed the feed, and whether a worker is at it.';
comment on column app_hidden.webhook_positions.origin is 'The feed that it is a place in, feed.origin(): after pg_restore it begins anew.';
comment on column app_hidden.webhook_positions.at is 'When the feed was last read from there.';
comment on column app_hidden.webhook_positions.leased_until is 'Until then one worker alone sends; afterwards, when the last run ended, by which webhooks take turns.';

alter table app_hidden.webhook_positions enable row level security, force row level security;
create policy all_graph_admin on app_hidden.webhook_positions for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.webhook_positions is 'Administration sees and changes every position.';
create policy select_graph_app on app_hidden.webhook_positions for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_hidden.webhook_positions is 'An application sees how far the webhooks of its organization are.';
create policy insert_graph_app on app_hidden.webhook_positions for insert to graph_app
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_app on app_hidden.webhook_positions is 'An application''s new webhook begins somewhere.';
create policy select_graph_worker on app_hidden.webhook_positions for select to graph_worker using (true);
comment on policy select_graph_worker on app_hidden.webhook_positions is 'The worker sends for every organization.';
create policy update_graph_worker on app_hidden.webhook_positions for update to graph_worker
  using (organization_id = (select app_hidden.current_organization_id())) with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_worker on app_hidden.webhook_positions is 'The worker goes on in the feed.';
grant select, insert, update, delete on app_hidden.webhook_positions to graph_admin;
grant select, insert (organization_id, webhook_id, origin, horizon, change_id, at) on app_hidden.webhook_positions to graph_app;
grant select, update (origin, horizon, change_id, at, leased_until) on app_hidden.webhook_positions to graph_worker;

-- A copy of the database has the webhooks, too, and must not send to their receivers: production does. So one row says which database
-- sends, and a copy differs from that: a restored dump in its cluster, a template's copy in its oid. What is left of copies are their files.
-- The service tells those of its embedded database by the directory; others cannot be told from the original.

create table app_hidden.webhook_charge (
  is_only boolean not null default true,
  system_identifier bigint not null,
  database_oid oid not null,
  directory text,
  constraint webhook_charge_pkey primary key (is_only),
  constraint webhook_charge_one check (is_only)
);
comment on table app_hidden.webhook_charge is 'The database that sends webhooks; in a copy of it, another one. A promoted standby is the same.';
comment on column app_hidden.webhook_charge.system_identifier is 'Its cluster, pg_control_system().';
comment on column app_hidden.webhook_charge.database_oid is 'Its oid in there; 0 in a copy of its directory.';
comment on column app_hidden.webhook_charge.directory is 'The embedded database''s directory as its service last saw it: inode and time of birth.';
alter table app_hidden.webhook_charge enable row level security, force row level security;
create policy all_graph_admin on app_hidden.webhook_charge for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_hidden.webhook_charge is 'Administration takes charge.';
create policy select_graph_worker on app_hidden.webhook_charge for select to graph_worker using (true);
comment on policy select_graph_worker on app_hidden.webhook_charge is 'The worker asks whether it may send.';
grant select, insert, update, delete on app_hidden.webhook_charge to graph_admin;
grant select on app_hidden.webhook_charge to graph_worker;

create function app_hidden.has_webhook_charge() returns boolean
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select exists (
      select from app_hidden.webhook_charge c
      join pg_control_system() s on s.system_identifier = c.system_identifier
      join pg_database d on d.oid = c.database_oid
      where d.datname = current_database())
  $$;
comment on function app_hidden.has_webhook_charge() is 'Whether this database sends webhooks: it is no copy, or has taken charge.';
grant execute on function app_hidden.has_webhook_charge() to graph_worker, graph_admin;

create function app_hidden.take_webhook_charge() returns boolean
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  begin
    if app_hidden.has_webhook_charge() then
      return false;
    end if;
    insert into app_hidden.webhook_charge (system_identifier, database_oid)
    select s.system_identifier, d.oid
    from pg_control_system() s
    join pg_database d on d.datname = current_database()
    on conflict on constraint webhook_charge_pkey do update
    set system_identifier = excluded.system_identifier, database_oid = excluded.database_oid;
    return true;
  end
  $$;
comment on function app_hidden.take_webhook_charge() is 'Has this database send webhooks from now on; whether it did not before. The other must have ended.';
grant execute on function app_hidden.take_webhook_charge() to graph_admin;

create function app_hidden.see_webhook_directory(seen text) returns void
  language sql volatile set search_path = pg_catalog, pg_temp
  as $$
    update app_hidden.webhook_charge c
    set directory = seen, database_oid = case when c.directory <> seen then 0 else c.database_oid end
    where c.directory is distinct from seen
  $$;
comment on function app_hidden.see_webhook_directory(text) is 'Takes the charge from a database whose directory is another one than before: a copy.';
grant execute on function app_hidden.see_webhook_directory(text) to graph_admin;

select app_hidden.take_webhook_charge();

--! Previous: sha1:4d950d665c4e76353b7b19bc4da97e1170feb9d0
--! Hash: sha1:744692099ae76cad7530567d05169f43645d5e32
--! Message: webhooks

-- Enter migration here: docs/changing-the-schema.md. The present text of a policy is in test/database/policies.txt,
-- that of a function in the last file of migrations/committed that makes it (psql: \sf app_public.user_create).

-- Webhooks: followers of the change feed that the service itself sends changes to. Each has a cursor of its own, so that a write costs nothing
-- more. A worker copies the next changes after the cursor to rows of app_public.webhook_deliveries, in one transaction with the cursor, and
-- sends these: a change is sent at least once, however often the worker is killed.
--
-- The worker has a role of its own, graph_worker. Its queue, the schema graphile_worker, is made by `npm run db:migrate`
-- (src/database/migrations/installWorker.ts), as the library graphile-worker wants it.

drop function if exists oauth.purge_deliveries(int);
drop function if exists graph.due_webhooks(int);
drop function if exists graph.followed();
drop function if exists app_public.webhook_redeliver(uuid);
drop function if exists app_public.webhook_delete(uuid);
drop function if exists app_public.webhook_rotate_secret(uuid, jsonb);
drop function if exists app_public.webhook_update(uuid, text, text[], boolean, text[]);
drop function if exists app_public.webhook_create(text, text[], jsonb);
do $$
begin
  if to_regtype('app_public.webhook_deliveries') is not null then
    drop function if exists app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries);
  end if;
end
$$;
drop table if exists app_public.webhook_deliveries;
drop table if exists app_hidden.webhook_positions;
drop table if exists app_public.webhooks;
drop type if exists app_public.delivery_outcome;
drop policy if exists select_graph_worker on graph.changes;

-- A member of no other role, and no role of a request. db:migrate makes it and lets the server's login become it.
do $$
begin
  begin
    if not exists (select from pg_roles where rolname = 'graph_worker') then
      create role graph_worker nologin;
    end if;
  exception
    when duplicate_object or unique_violation then null;
  end;
  if exists (select from pg_roles where rolname = 'graph_worker' and (rolsuper or rolbypassrls or rolcanlogin)) then
    raise exception 'Role graph_worker exists but is a superuser, bypasses row-level security or can log in'
      using hint = 'Run: alter role graph_worker nosuperuser nobypassrls nologin';
  end if;
end
$$;
grant usage on schema app_public, app_hidden, graph to graph_worker;

-- The server's login becomes it, as it becomes the roles of requests: the view, as it was, with one more of these.
do $$
declare
  definition constant text = pg_get_viewdef('audit.bypasses');
begin
  if strpos(definition, 'graph_worker') = 0 then
    execute 'create or replace view audit.bypasses with (security_invoker = true) as '
      || replace(definition, '''graph_oauth''::name', '''graph_oauth''::name, ''graph_worker''::name');
  end if;
  if strpos(pg_get_viewdef('audit.bypasses'), 'graph_worker') = 0 then
    raise exception 'audit.bypasses does not name the roles that the server becomes';
  end if;
end
$$;

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
create policy update_graph_worker on app_public.webhooks for update to graph_worker using (true) with check (true);
comment on policy update_graph_worker on app_public.webhooks is 'The worker disables a webhook whose receiver is gone for good (410).';
grant select, insert, update, delete on app_public.webhooks to graph_admin;
grant select, insert (organization_id, id, url, type_names, secret_ciphertext),
  update (url, type_names, enabled, secret_ciphertext, previous_secret_ciphertext, previous_valid_until), delete
  on app_public.webhooks to graph_app;
grant select (organization_id, id, url, type_names, enabled, created_at) on app_public.webhooks to graph_user, graph_basic;
grant select, update (enabled) on app_public.webhooks to graph_worker;
select audit.record('app_public.webhooks', secrets => '{secret_ciphertext,previous_secret_ciphertext}', derived => '{created_at}');

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
comment on column app_hidden.webhook_positions.origin is 'The feed that it is a place in, graph.origin(): after pg_restore it begins anew.';
comment on column app_hidden.webhook_positions.at is 'When the feed was last read from there.';
comment on column app_hidden.webhook_positions.leased_until is 'Until then one worker alone sends; one that was killed holds others off no longer.';

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
create policy update_graph_worker on app_hidden.webhook_positions for update to graph_worker using (true) with check (true);
comment on policy update_graph_worker on app_hidden.webhook_positions is 'The worker goes on in the feed.';
grant select, insert, update, delete on app_hidden.webhook_positions to graph_admin;
grant select, insert (organization_id, webhook_id, origin, horizon, change_id, at) on app_hidden.webhook_positions to graph_app;
grant select, update (origin, horizon, change_id, at, leased_until) on app_hidden.webhook_positions to graph_worker;

create type app_public.delivery_outcome as enum ('PENDING', 'DELIVERED', 'FAILED');
comment on type app_public.delivery_outcome is
  E'@value PENDING It was not attempted yet, or is attempted again.\n@value DELIVERED The receiver has taken it.\n'
  '@value FAILED A dead letter: it was attempted for three days. It is attempted again when the client asks for that.\nWhat became of a delivery.';
grant usage on type app_public.delivery_outcome to graph_app, graph_user, graph_basic, graph_worker, graph_admin;

create table app_public.webhook_deliveries (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  webhook_id uuid not null,
  origin bigint not null,
  horizon bigint not null,
  change_id bigint not null,
  changed_at timestamptz not null,
  outcome app_public.delivery_outcome not null default 'PENDING',
  attempts int not null default 0,
  first_attempt_at timestamptz,
  next_attempt_at timestamptz default statement_timestamp(),
  status_code int,
  last_error text,
  constraint webhook_deliveries_pkey primary key (organization_id, id),
  constraint webhook_deliveries_webhook_id_fkey foreign key (organization_id, webhook_id) references app_public.webhooks on delete cascade,
  constraint webhook_deliveries_change_key unique (organization_id, webhook_id, origin, horizon, change_id),
  constraint webhook_deliveries_attempts_counted check (attempts >= 0),
  constraint webhook_deliveries_next_attempt_pending check ((outcome = 'PENDING') = (next_attempt_at is not null)),
  constraint webhook_deliveries_last_error_length check (length(last_error) between 1 and 200)
);
-- Absent on purpose: the change itself, which is in graph.changes as long as the delivery is here.
create index webhook_deliveries_webhook_id_idx on app_public.webhook_deliveries (organization_id, webhook_id, id);
create index webhook_deliveries_due_idx on app_public.webhook_deliveries (organization_id, webhook_id, next_attempt_at) where outcome = 'PENDING';
create index webhook_deliveries_changed_at_idx on app_public.webhook_deliveries (changed_at);
comment on table app_public.webhook_deliveries is 'A change on its way to a webhook. Kept as long as the change.';
comment on column app_public.webhook_deliveries.origin is '@behavior -*';
comment on column app_public.webhook_deliveries.horizon is E'@behavior -*\nWith `change_id`, the change in graph.changes. No xid8, of which the graph can make nothing.';
comment on column app_public.webhook_deliveries.change_id is '@behavior -*';
comment on column app_public.webhook_deliveries.changed_at is E'@behavior -*\nThe time of the change.';
comment on column app_public.webhook_deliveries.outcome is E'@behavior -orderBy\n@filter outcome is\nWhat became of it.';
comment on column app_public.webhook_deliveries.attempts is E'@behavior -orderBy\nHow often it was attempted since it was created, or since a client asked for it again.';
comment on column app_public.webhook_deliveries.first_attempt_at is E'@behavior -*\nThree days from then on it is attempted.';
comment on column app_public.webhook_deliveries.next_attempt_at is E'@behavior -orderBy\nWhen it is attempted next; null when it is not.';
comment on column app_public.webhook_deliveries.status_code is E'@behavior -orderBy\nThe status that the receiver answered the last attempt with; null when it did not.';
comment on column app_public.webhook_deliveries.last_error is E'@behavior -orderBy\nWhy the last attempt has failed; null when it has not.';
comment on constraint webhook_deliveries_webhook_id_fkey on app_public.webhook_deliveries is
  E'@forwardBehavior -*\n@foreignFieldName deliveries\n@backwardDescription What was sent and is to be sent, in the order of the changes.';

alter table app_public.webhook_deliveries enable row level security, force row level security;
create policy all_graph_admin on app_public.webhook_deliveries for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on app_public.webhook_deliveries is 'Administration sees and changes every delivery.';
create policy select_graph_app on app_public.webhook_deliveries for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_app on app_public.webhook_deliveries is 'An application sees the deliveries of its organization.';
create policy update_graph_app on app_public.webhook_deliveries for update to graph_app
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_app on app_public.webhook_deliveries is 'An application has deliveries of its organization sent again.';
create policy select_graph_user on app_public.webhook_deliveries for select to graph_user using (false);
comment on policy select_graph_user on app_public.webhook_deliveries is 'A person sees no delivery.';
create policy select_graph_basic on app_public.webhook_deliveries for select to graph_basic using (false);
comment on policy select_graph_basic on app_public.webhook_deliveries is 'A basic token reads no row.';
create policy select_graph_worker on app_public.webhook_deliveries for select to graph_worker using (true);
comment on policy select_graph_worker on app_public.webhook_deliveries is 'The worker sends for every organization.';
create policy insert_graph_worker on app_public.webhook_deliveries for insert to graph_worker
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy insert_graph_worker on app_public.webhook_deliveries is 'The worker adds what the feed has, of one organization at a time.';
create policy update_graph_worker on app_public.webhook_deliveries for update to graph_worker
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy update_graph_worker on app_public.webhook_deliveries is 'The worker says what became of a delivery, of one organization at a time.';
create policy select_graph_helper on app_public.webhook_deliveries for select to graph_helper using (true);
comment on policy select_graph_helper on app_public.webhook_deliveries is 'oauth.purge_deliveries looks for old deliveries.';
create policy delete_graph_helper on app_public.webhook_deliveries for delete to graph_helper
  using (changed_at <= statement_timestamp() - graph.retention());
comment on policy delete_graph_helper on app_public.webhook_deliveries is 'oauth.purge_deliveries deletes deliveries whose changes are no longer kept.';
grant select, insert, update, delete on app_public.webhook_deliveries to graph_admin;
grant select, update (outcome, attempts, first_attempt_at, next_attempt_at) on app_public.webhook_deliveries to graph_app;
grant select on app_public.webhook_deliveries to graph_user, graph_basic;
grant select, insert (organization_id, webhook_id, origin, horizon, change_id, changed_at),
  update (outcome, attempts, first_attempt_at, next_attempt_at, status_code, last_error) on app_public.webhook_deliveries to graph_worker;
grant select (organization_id, id, changed_at), delete on app_public.webhook_deliveries to graph_helper;
grant execute on function graph.retention() to graph_helper;

-- The feed, as the worker reads it.

create policy select_graph_worker on graph.changes for select to graph_worker using (true);
comment on policy select_graph_worker on graph.changes is 'The worker looks for what is new in every organization.';
grant select on graph.changes to graph_worker;
grant execute on function
  app_hidden.uuid_v7(), app_hidden.current_organization_id(), graph.retention(), graph.origin(), graph.position(),
  graph.changes_after(xid8, bigint, int), graph.last_change(), graph.oldest()
  to graph_worker;

-- Each second: a few milliseconds for a thousand webhooks, less than PostgreSQL would need to compile it (jit).
create function graph.due_webhooks(max_rows int) returns table (organization_id uuid, webhook_id uuid)
  language sql stable set search_path = pg_catalog, pg_temp set jit = off
  as $$
    select p.organization_id, p.webhook_id
    from app_hidden.webhook_positions p
    join app_public.webhooks w on w.organization_id = p.organization_id and w.id = p.webhook_id
    where w.enabled and coalesce(p.leased_until <= statement_timestamp(), true)
      and (
        p.origin <> (select graph.origin())
        -- What a transaction wrote that was open for longer than an hour, and so that a quiet webhook does not look through more and more days.
        or p.at < statement_timestamp() - interval '1 hour'
        or exists (
          select from app_public.webhook_deliveries d
          where d.organization_id = p.organization_id and d.webhook_id = p.webhook_id
            and d.outcome = 'PENDING' and d.next_attempt_at <= statement_timestamp())
        or exists (
          select from graph.changes c
          where c.organization_id = p.organization_id and (c.horizon, c.id) > (p.horizon, p.change_id)
            and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
            and c.at >= p.at - interval '1 hour'))
    limit due_webhooks.max_rows
  $$;
comment on function graph.due_webhooks(int) is 'Webhooks for which there is something to send, or to look at, and that no worker is at.';
grant execute on function graph.due_webhooks(int) to graph_worker;

create function app_public.webhook_deliveries_feed_row(delivery app_public.webhook_deliveries) returns json
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select json_build_object(
      'origin', p.origin::text, 'horizon', c.horizon, 'id', c.id, 'at', c.at, 'relation', c.relation, 'type', c.type, 'key', c.key,
      'operation', c.operation, 'columns', c.columns)
    from graph.changes c
    cross join graph.position() p
    where c.organization_id = delivery.organization_id and c.horizon = delivery.horizon::text::xid8 and c.id = delivery.change_id
      and c.at = delivery.changed_at and c.at > p.oldest and c.origin = delivery.origin and c.origin = graph.origin()
  $$;
comment on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) is
  E'@behavior -*\nThe change that a delivery is about, while it is kept: plugins/WebhooksPlugin.ts makes a Change of it.';
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_app, graph_user, graph_basic, graph_worker;

create function graph.followed() returns setof text
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    -- The first argument of the trigger.
    select split_part(encode(t.tgargs, 'escape'), '\000', 1)
    from pg_trigger t
    where t.tgname = 'follow_insert' and t.tgfoid = 'graph.record_rows'::regproc and not t.tgisinternal
  $$;
comment on function graph.followed() is 'The tables and views that graph.follow has added to the feed.';
grant execute on function graph.followed() to graph_app;

-- Mutations. What is sealed under SECRET_KEY comes sealed, from plugins/WebhooksPlugin.ts.

create function app_public.webhook_create(url text, type_names text[] default null, secret jsonb default null) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    own constant uuid = app_hidden.current_organization_id();
    webhook app_public.webhooks;
  begin
    perform pg_advisory_xact_lock(hashtextextended('app_public.webhooks ' || own, 0));
    if (select count(*) from app_public.webhooks w where w.organization_id = own) >= 20 then
      raise unique_violation using message = 'An organization has at most 20 webhooks';
    end if;
    insert into app_public.webhooks (organization_id, id, url, type_names, secret_ciphertext)
    values (own, (secret ->> 'webhookId')::uuid, webhook_create.url, webhook_create.type_names, decode(secret ->> 'ciphertext', 'hex'))
    returning * into webhook;
    insert into app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at)
    select own, webhook.id, graph.origin(), coalesce(l.horizon, '0'), coalesce(l.id, 0), statement_timestamp()
    from (values (true)) as one
    left join graph.last_change() as l on true;
    return webhook;
  end
  $$;
comment on function app_public.webhook_create(text, text[], jsonb) is
  E'@mutation\n@param {WebhookUrl} url An https URL of a public address: at most 2,000 characters, without user and fragment.\n'
  '@param {FollowedTypes} typeNames The types whose changes are sent, such as `User`; left out, all that are followed.\n'
  '@param {WebhookSecret} secret\n'
  'Has every change from now on sent to a URL, signed with the `secret`, which is shown here alone. At most 20 of an organization. Needs an app token (scope `app`).';

create function app_public.webhook_update(
  id uuid, url text default null, type_names text[] default null, enabled boolean default null, given text[] default '{}'
) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    webhook app_public.webhooks;
  begin
    perform app_hidden.require_values(given, '{url,enabled}', array[webhook_update.url, webhook_update.enabled::text]);
    update app_public.webhooks w set
      url = coalesce(webhook_update.url, w.url),
      type_names = case when 'typeNames' = any (given) then webhook_update.type_names else w.type_names end,
      enabled = coalesce(webhook_update.enabled, w.enabled)
    where w.organization_id = app_hidden.current_organization_id() and w.id = webhook_update.id
    returning * into webhook;
    if not found then
      raise no_data_found using message = 'There is no such webhook';
    end if;
    return webhook;
  end
  $$;
comment on function app_public.webhook_update(uuid, text, text[], boolean, text[]) is
  E'@mutation\n@param {Given} given\n@param {Webhook} id The webhook to change.\n'
  '@param {WebhookUrl} url An https URL of a public address: at most 2,000 characters, without user and fragment.\n'
  '@param {FollowedTypes} typeNames The types whose changes are sent; null for all that are followed.\n'
  '@param enabled Whether changes are sent. What was not sent meanwhile is sent afterwards.\n'
  'Changes a webhook. An omitted argument leaves its value. Needs an app token (scope `app`).';

create function app_public.webhook_rotate_secret(id uuid, secret jsonb default null) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    webhook app_public.webhooks;
  begin
    update app_public.webhooks w set
      secret_ciphertext = decode(secret ->> 'ciphertext', 'hex'),
      previous_secret_ciphertext = w.secret_ciphertext,
      previous_valid_until = statement_timestamp() + interval '24 hours'
    where w.organization_id = app_hidden.current_organization_id() and w.id = webhook_rotate_secret.id
    returning * into webhook;
    if not found then
      raise no_data_found using message = 'There is no such webhook';
    end if;
    return webhook;
  end
  $$;
comment on function app_public.webhook_rotate_secret(uuid, jsonb) is
  E'@mutation\n@param {Webhook} id The webhook.\n@param {WebhookSecret} secret\n'
  'Makes a new secret, which is shown here alone. For 24 hours deliveries are signed with the one before, too. Needs an app token (scope `app`).';

create function app_public.webhook_delete(id uuid) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    webhook app_public.webhooks;
  begin
    delete from app_public.webhooks w
    where w.organization_id = app_hidden.current_organization_id() and w.id = webhook_delete.id
    returning * into webhook;
    if not found then
      raise no_data_found using message = 'There is no such webhook';
    end if;
    return webhook;
  end
  $$;
comment on function app_public.webhook_delete(uuid) is
  E'@mutation\n@param {Webhook} id The webhook to delete.\nDeletes a webhook with its deliveries. Needs an app token (scope `app`).';

create function app_public.webhook_redeliver(delivery_id uuid) returns app_public.webhook_deliveries
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    delivery app_public.webhook_deliveries;
  begin
    update app_public.webhook_deliveries d
    set outcome = 'PENDING', attempts = 0, first_attempt_at = null, next_attempt_at = statement_timestamp()
    where d.organization_id = app_hidden.current_organization_id() and d.id = webhook_redeliver.delivery_id
    returning * into delivery;
    if not found then
      raise no_data_found using message = 'There is no such delivery';
    end if;
    return delivery;
  end
  $$;
comment on function app_public.webhook_redeliver(uuid) is
  E'@mutation\n@param {WebhookDelivery} deliveryId The delivery, whatever became of it.\n'
  'Sends a change again, and for three days from then on until the receiver takes it. Needs an app token (scope `app`).';

grant execute on function
  app_public.webhook_create(text, text[], jsonb), app_public.webhook_update(uuid, text, text[], boolean, text[]),
  app_public.webhook_rotate_secret(uuid, jsonb), app_public.webhook_delete(uuid), app_public.webhook_redeliver(uuid)
  to graph_app;

-- Deliveries go with the changes that they are about.

create function oauth.purge_deliveries(batch int) returns table (deliveries int)
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because what is old belongs to every organization; its policy leaves the rest.
    if not pg_try_advisory_xact_lock(hashtextextended('oauth.purge_deliveries', 0)) then
      return;
    end if;
    delete from app_public.webhook_deliveries as old
    using (
      select d.organization_id, d.id from app_public.webhook_deliveries d
      where d.changed_at <= statement_timestamp() - graph.retention()
      order by d.changed_at
      limit purge_deliveries.batch
    ) as d
    where old.organization_id = d.organization_id and old.id = d.id;
    get diagnostics deliveries = row_count;
    return next;
  end
  $$;
comment on function oauth.purge_deliveries(int) is
  'Deletes at most so many deliveries whose changes are older than graph.retention, and says how many; no row when another session is at it.';
grant create on schema oauth to graph_helper;
alter function oauth.purge_deliveries(int) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.purge_deliveries(int) to graph_oauth, graph_admin;

insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'oauth.purge_deliveries(integer)', 'graph_admin, graph_oauth', 'Deletes what has expired in every organization; a policy on graph_helper bounds it to that.'),
  ('history', 'app_hidden.webhook_positions', 'everybody', 'Follows from the feed.'),
  ('history', 'app_public.webhook_deliveries', 'everybody', 'It is a record itself.'),
  ('secret_readable', 'app_public.webhooks.secret_ciphertext', '', 'Only the service has the key, and the application was given the secret.'),
  ('secret_readable', 'app_public.webhooks.previous_secret_ciphertext', '', 'Only the service has the key, and the application was given the secret.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;

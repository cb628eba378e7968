--! Previous: sha1:63eb968e901e9bc6f73c4c3ac3a5daef09dd85b4
--! Hash: sha1:befb9bdd7b543f11e8b2789e963755ac7c668b4c
--! Message: deliveries of webhooks

-- A delivery is a change on its way to a webhook. It names the change, which is in feed.changes as long as the delivery is here.
-- An application sees the deliveries of its organization, and may have one sent again.

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
) with (autovacuum_vacuum_scale_factor = 0.02);
-- Absent on purpose: the change itself, which is in feed.changes as long as the delivery is here.
create index webhook_deliveries_webhook_id_idx on app_public.webhook_deliveries (organization_id, webhook_id, id);
create index webhook_deliveries_due_idx on app_public.webhook_deliveries (organization_id, webhook_id, next_attempt_at) where outcome = 'PENDING';
create index webhook_deliveries_changed_at_idx on app_public.webhook_deliveries (changed_at);
comment on table app_public.webhook_deliveries is 'A change on its way to a webhook. Kept as long as the change.';
comment on column app_public.webhook_deliveries.origin is '@behavior -*';
comment on column app_public.webhook_deliveries.horizon is E'@behavior -*\nWith `change_id`, the change in feed.changes. No xid8, of which the graph can make nothing.';
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
create policy select_graph_purger on app_public.webhook_deliveries for select to graph_purger using (true);
comment on policy select_graph_purger on app_public.webhook_deliveries is 'oauth.purge_rows looks for old deliveries.';
create policy delete_graph_purger on app_public.webhook_deliveries for delete to graph_purger
  using (changed_at <= statement_timestamp() - feed.retention());
comment on policy delete_graph_purger on app_public.webhook_deliveries is 'oauth.purge_rows deletes deliveries whose changes are no longer kept.';
grant select, insert, update, delete on app_public.webhook_deliveries to graph_admin;
grant select, update (outcome, attempts, first_attempt_at, next_attempt_at) on app_public.webhook_deliveries to graph_app;
grant select on app_public.webhook_deliveries to graph_user, graph_basic;
grant select, insert (organization_id, webhook_id, origin, horizon, change_id, changed_at),
  update (outcome, attempts, first_attempt_at, next_attempt_at, status_code, last_error) on app_public.webhook_deliveries to graph_worker;
grant select (organization_id, id, changed_at), delete on app_public.webhook_deliveries to graph_purger;

-- Each second. So the last change is read once for an organization, and from the partitions of today: the plan is generic for that, and is
-- not compiled (jit). What a transaction wrote that was open for longer than an hour is found an hour later.
create function feed.due_webhooks(max_rows int) returns table (organization_id uuid, webhook_id uuid)
  language sql stable set search_path = pg_catalog, pg_temp set enable_sort = off set plan_cache_mode = force_generic_plan set jit = off
  as $$
    with last as materialized (
      select o.organization_id, c.horizon, c.id
      from (select distinct p.organization_id from app_hidden.webhook_positions p) as o
      cross join lateral (
        select c.horizon, c.id
        from feed.changes c
        where c.organization_id = o.organization_id and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
          and c.at >= statement_timestamp() - interval '2 hours' and c.at < statement_timestamp() + interval '1 hour'
          and c.origin = (select feed.origin()) and to_regclass(c.relation) is not null
        order by c.horizon desc, c.id desc
        limit 1) as c)
    select p.organization_id, p.webhook_id
    from app_hidden.webhook_positions p
    join app_public.webhooks w on w.organization_id = p.organization_id and w.id = p.webhook_id
    left join last on last.organization_id = p.organization_id
    where (select app_hidden.has_webhook_charge()) and w.enabled and coalesce(p.leased_until <= statement_timestamp(), true)
      and (
        p.origin <> (select feed.origin())
        or p.at < statement_timestamp() - interval '1 hour'
        or (last.horizon, last.id) > (p.horizon, p.change_id)
        or exists (
          select from app_public.webhook_deliveries d
          where d.organization_id = p.organization_id and d.webhook_id = p.webhook_id
            and d.outcome = 'PENDING' and d.next_attempt_at <= statement_timestamp()))
    order by p.leased_until nulls first
    limit due_webhooks.max_rows
  $$;
comment on function feed.due_webhooks(int) is 'Webhooks for which there is something to send, or to look at, and that no worker is at; first the one whose last run ended first.';
grant execute on function feed.due_webhooks(int) to graph_worker;

create function app_public.webhook_deliveries_feed_row(delivery app_public.webhook_deliveries) returns json
  language sql stable set search_path = pg_catalog, pg_temp
  as $$
    select json_build_object(
      'origin', p.origin::text, 'horizon', c.horizon, 'id', c.id, 'at', c.at, 'relation', c.relation, 'type', c.type, 'key', c.key,
      'operation', c.operation, 'columns', c.columns, 'related', c.related)
    from feed.changes c
    cross join feed.position() p
    where c.organization_id = delivery.organization_id and c.horizon = delivery.horizon::text::xid8 and c.id = delivery.change_id
      and c.at = delivery.changed_at and c.at > p.oldest and c.origin = delivery.origin and c.origin = feed.origin()
  $$;
comment on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) is
  E'@behavior -*\nThe change that a delivery is about, while it is kept: plugins/WebhooksPlugin.ts makes a Change of it.';
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_app, graph_user, graph_basic, graph_worker;

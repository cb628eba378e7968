create table app_hidden.webhook_positions (
  organization_id uuid not null,
  webhook_id uuid not null,
  origin bigint not null,
  horizon xid8 not null,
  change_id bigint not null,
  at timestamp with time zone not null,
  leased_until timestamp with time zone,
  constraint webhook_positions_pkey PRIMARY KEY (organization_id, webhook_id),
  constraint webhook_positions_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES app_public.webhooks(organization_id, id) ON DELETE CASCADE
);
comment on table app_hidden.webhook_positions is 'How far each webhook has followed the feed, and whether a worker is at it.';
comment on column app_hidden.webhook_positions.origin is 'The feed that it is a place in, feed.origin(): after pg_restore it begins anew.';
comment on column app_hidden.webhook_positions.at is 'When the feed was last read from there.';
comment on column app_hidden.webhook_positions.leased_until is 'Until then one worker alone sends; afterwards, when the last run ended, by which webhooks take turns.';

alter table app_hidden.webhook_positions enable row level security, force row level security;

create policy all_graph_admin on app_hidden.webhook_positions for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.webhook_positions is 'Administration sees and changes every position.';

create policy insert_graph_app on app_hidden.webhook_positions for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_hidden.webhook_positions is 'An application''s new webhook begins somewhere.';

create policy select_graph_app on app_hidden.webhook_positions for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_hidden.webhook_positions is 'An application sees how far the webhooks of its organization are.';

create policy select_graph_worker on app_hidden.webhook_positions for select to graph_worker
  using (true);
comment on policy select_graph_worker on app_hidden.webhook_positions is 'The worker sends for every organization.';

create policy update_graph_worker on app_hidden.webhook_positions for update to graph_worker
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_worker on app_hidden.webhook_positions is 'The worker goes on in the feed.';

grant delete, insert, select, update on app_hidden.webhook_positions to graph_admin;
grant insert (organization_id, webhook_id, origin, horizon, change_id, at), select on app_hidden.webhook_positions to graph_app;
grant select, update (origin, horizon, change_id, at, leased_until) on app_hidden.webhook_positions to graph_worker;

create table app_public.webhook_deliveries (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  webhook_id uuid not null,
  origin bigint not null,
  horizon bigint not null,
  change_id bigint not null,
  changed_at timestamp with time zone not null,
  outcome app_public.delivery_outcome default 'PENDING'::app_public.delivery_outcome not null,
  attempts integer default 0 not null,
  first_attempt_at timestamp with time zone,
  next_attempt_at timestamp with time zone default statement_timestamp(),
  status_code integer,
  last_error text,
  constraint webhook_deliveries_pkey PRIMARY KEY (organization_id, id),
  constraint webhook_deliveries_change_key UNIQUE (organization_id, webhook_id, origin, horizon, change_id),
  constraint webhook_deliveries_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES app_public.webhooks(organization_id, id) ON DELETE CASCADE,
  constraint webhook_deliveries_attempts_counted CHECK (attempts >= 0),
  constraint webhook_deliveries_last_error_length CHECK (length(last_error) >= 1 AND length(last_error) <= 200),
  constraint webhook_deliveries_next_attempt_pending CHECK ((outcome = 'PENDING'::app_public.delivery_outcome) = (next_attempt_at IS NOT NULL))
)
with (autovacuum_vacuum_scale_factor=0.02);
comment on table app_public.webhook_deliveries is 'A change on its way to a webhook. Kept as long as the change.';
comment on column app_public.webhook_deliveries.origin is '@behavior -*';
comment on column app_public.webhook_deliveries.horizon is '@behavior -*
With `change_id`, the change in feed.changes. No xid8, of which the graph can make nothing.';
comment on column app_public.webhook_deliveries.change_id is '@behavior -*';
comment on column app_public.webhook_deliveries.changed_at is '@behavior -*
The time of the change.';
comment on column app_public.webhook_deliveries.outcome is '@behavior -orderBy
@filter outcome is
What became of it.';
comment on column app_public.webhook_deliveries.attempts is '@behavior -orderBy
How often it was attempted since it was created, or since a client asked for it again.';
comment on column app_public.webhook_deliveries.first_attempt_at is '@behavior -*
Three days from then on it is attempted.';
comment on column app_public.webhook_deliveries.next_attempt_at is '@behavior -orderBy
When it is attempted next; null when it is not.';
comment on column app_public.webhook_deliveries.status_code is '@behavior -orderBy
The status that the receiver answered the last attempt with; null when it did not.';
comment on column app_public.webhook_deliveries.last_error is '@behavior -orderBy
Why the last attempt has failed; null when it has not.';

comment on constraint webhook_deliveries_webhook_id_fkey on app_public.webhook_deliveries is '@forwardBehavior -*
@foreignFieldName deliveries
@backwardDescription What was sent and is to be sent, in the order of the changes.';

alter table app_public.webhook_deliveries enable row level security, force row level security;

CREATE INDEX webhook_deliveries_changed_at_idx ON app_public.webhook_deliveries USING btree (changed_at);

CREATE INDEX webhook_deliveries_due_idx ON app_public.webhook_deliveries USING btree (organization_id, webhook_id, next_attempt_at) WHERE outcome = 'PENDING'::app_public.delivery_outcome;

CREATE INDEX webhook_deliveries_webhook_id_idx ON app_public.webhook_deliveries USING btree (organization_id, webhook_id, id);

create policy all_graph_admin on app_public.webhook_deliveries for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_public.webhook_deliveries is 'Administration sees and changes every delivery.';

create policy delete_graph_purger on app_public.webhook_deliveries for delete to graph_purger
  using (changed_at <= (statement_timestamp() - feed.retention()));
comment on policy delete_graph_purger on app_public.webhook_deliveries is 'oauth.purge_deliveries deletes deliveries whose changes are no longer kept.';

create policy insert_graph_worker on app_public.webhook_deliveries for insert to graph_worker
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_worker on app_public.webhook_deliveries is 'The worker adds what the feed has, of one organization at a time.';

create policy select_graph_app on app_public.webhook_deliveries for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_public.webhook_deliveries is 'An application sees the deliveries of its organization.';

create policy select_graph_basic on app_public.webhook_deliveries for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_public.webhook_deliveries is 'A basic token reads no row.';

create policy select_graph_purger on app_public.webhook_deliveries for select to graph_purger
  using (true);
comment on policy select_graph_purger on app_public.webhook_deliveries is 'oauth.purge_deliveries looks for old deliveries.';

create policy select_graph_user on app_public.webhook_deliveries for select to graph_user
  using (false);
comment on policy select_graph_user on app_public.webhook_deliveries is 'A person sees no delivery.';

create policy select_graph_worker on app_public.webhook_deliveries for select to graph_worker
  using (true);
comment on policy select_graph_worker on app_public.webhook_deliveries is 'The worker sends for every organization.';

create policy update_graph_app on app_public.webhook_deliveries for update to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_app on app_public.webhook_deliveries is 'An application has deliveries of its organization sent again.';

create policy update_graph_worker on app_public.webhook_deliveries for update to graph_worker
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_worker on app_public.webhook_deliveries is 'The worker says what became of a delivery, of one organization at a time.';

grant delete, insert, select, update on app_public.webhook_deliveries to graph_admin;
grant select, update (outcome, attempts, first_attempt_at, next_attempt_at) on app_public.webhook_deliveries to graph_app;
grant select on app_public.webhook_deliveries to graph_basic;
grant delete, select (organization_id, id, changed_at) on app_public.webhook_deliveries to graph_purger;
grant select on app_public.webhook_deliveries to graph_user;
grant insert (organization_id, webhook_id, origin, horizon, change_id, changed_at), select, update (outcome, attempts, first_attempt_at, next_attempt_at, status_code, last_error) on app_public.webhook_deliveries to graph_worker;

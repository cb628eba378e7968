create table app_hidden.idempotency_usage (
  organization_id uuid not null,
  expires_at timestamp with time zone not null,
  slot bigint not null,
  keys bigint not null,
  bytes bigint not null,
  constraint idempotency_usage_pkey PRIMARY KEY (organization_id, expires_at, slot),
  constraint idempotency_usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id) ON DELETE CASCADE
)
with (fillfactor=50);
comment on table app_hidden.idempotency_usage is 'How many keys and bytes of answers an organization keeps, by the hour in which they expire.';
comment on column app_hidden.idempotency_usage.expires_at is 'The end of the hour.';
comment on column app_hidden.idempotency_usage.slot is 'One of four, by the hash of the key, so that transactions seldom wait for each other''s count.';

alter table app_hidden.idempotency_usage enable row level security, force row level security;

CREATE INDEX idempotency_usage_expires_at_idx ON app_hidden.idempotency_usage USING btree (expires_at);

create policy all_graph_admin on app_hidden.idempotency_usage for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.idempotency_usage is 'Administration deletes counts along with their organization.';

create policy delete_graph_purger on app_hidden.idempotency_usage for delete to graph_purger
  using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on app_hidden.idempotency_usage is 'oauth.purge_idempotency_keys deletes the counts of hours that are over.';

create policy insert_graph_helper on app_hidden.idempotency_usage for insert to graph_helper
  with check (true);
comment on policy insert_graph_helper on app_hidden.idempotency_usage is 'A trigger counts the first of an hour.';

create policy select_graph_app on app_hidden.idempotency_usage for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_hidden.idempotency_usage is 'app_hidden.claim_idempotency_key asks how much the organization keeps.';

create policy select_graph_basic on app_hidden.idempotency_usage for select to graph_basic
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_basic on app_hidden.idempotency_usage is 'app_hidden.claim_idempotency_key asks how much the organization keeps.';

create policy select_graph_helper on app_hidden.idempotency_usage for select to graph_helper
  using (true);
comment on policy select_graph_helper on app_hidden.idempotency_usage is 'A trigger counts one more.';

create policy select_graph_purger on app_hidden.idempotency_usage for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on app_hidden.idempotency_usage is 'oauth.purge_idempotency_keys looks for hours that are over, but of no organization that is being moved, or has moved.';

create policy select_graph_user on app_hidden.idempotency_usage for select to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_user on app_hidden.idempotency_usage is 'app_hidden.claim_idempotency_key asks how much the organization keeps.';

create policy update_graph_helper on app_hidden.idempotency_usage for update to graph_helper
  using (true)
  with check (true);
comment on policy update_graph_helper on app_hidden.idempotency_usage is 'A trigger counts one more.';

grant delete, insert, select, update on app_hidden.idempotency_usage to graph_admin;
grant select on app_hidden.idempotency_usage to graph_app;
grant select on app_hidden.idempotency_usage to graph_basic;
grant insert, select, update (keys, bytes) on app_hidden.idempotency_usage to graph_helper;
grant delete, select (organization_id, expires_at) on app_hidden.idempotency_usage to graph_purger;
grant select on app_hidden.idempotency_usage to graph_user;

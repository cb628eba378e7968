create table app_hidden.idempotency_keys (
  organization_id uuid not null,
  application_id uuid not null,
  principal_id uuid not null,
  role text not null,
  key_hash bytea not null,
  answer_ciphertext bytea not null,
  expires_at timestamp with time zone default statement_timestamp() + '24:00:00'::interval not null,
  constraint idempotency_keys_pkey PRIMARY KEY (organization_id, application_id, principal_id, role, key_hash),
  constraint idempotency_keys_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE,
  constraint idempotency_keys_answer_ciphertext_length CHECK (octet_length(answer_ciphertext) >= 28),
  constraint idempotency_keys_key_hash_length CHECK (octet_length(key_hash) = 32),
  constraint idempotency_keys_role_known CHECK (role = ANY (ARRAY['graph_app'::text, 'graph_user'::text, 'graph_basic'::text]))
)
with (autovacuum_vacuum_scale_factor=0.02);
alter table app_hidden.idempotency_keys alter column answer_ciphertext set storage external;
comment on table app_hidden.idempotency_keys is 'The answers to requests with an Idempotency-Key, each for its application, person and role alone.';
comment on column app_hidden.idempotency_keys.principal_id is 'The person, or of an application''s own token the application.';
comment on column app_hidden.idempotency_keys.role is 'The role of the token: one that may read less gets no answer that another was given.';
comment on column app_hidden.idempotency_keys.key_hash is 'SHA-256 of the key. Not keyed: servers that change SECRET_KEY one after the other know the same keys.';
comment on column app_hidden.idempotency_keys.answer_ciphertext is 'The answer, AES-256-GCM under SECRET_KEY; it opens for the same principal, key and request alone.';

alter table app_hidden.idempotency_keys enable row level security, force row level security;

CREATE INDEX idempotency_keys_expires_at_idx ON app_hidden.idempotency_keys USING btree (expires_at);

create policy all_graph_admin on app_hidden.idempotency_keys for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_hidden.idempotency_keys is 'Administration deletes answers along with their application.';

create policy all_graph_app on app_hidden.idempotency_keys for all to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND application_id = (( SELECT app_hidden.current_application_id() AS current_application_id)) AND principal_id = COALESCE(( SELECT app_hidden.current_user_id() AS current_user_id), ( SELECT app_hidden.current_application_id() AS current_application_id)) AND role = CURRENT_USER)
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND application_id = (( SELECT app_hidden.current_application_id() AS current_application_id)) AND principal_id = COALESCE(( SELECT app_hidden.current_user_id() AS current_user_id), ( SELECT app_hidden.current_application_id() AS current_application_id)) AND role = CURRENT_USER);
comment on policy all_graph_app on app_hidden.idempotency_keys is 'A token keeps and reads answers to its own application, person and role only.';

create policy all_graph_basic on app_hidden.idempotency_keys for all to graph_basic
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND application_id = (( SELECT app_hidden.current_application_id() AS current_application_id)) AND principal_id = COALESCE(( SELECT app_hidden.current_user_id() AS current_user_id), ( SELECT app_hidden.current_application_id() AS current_application_id)) AND role = CURRENT_USER)
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND application_id = (( SELECT app_hidden.current_application_id() AS current_application_id)) AND principal_id = COALESCE(( SELECT app_hidden.current_user_id() AS current_user_id), ( SELECT app_hidden.current_application_id() AS current_application_id)) AND role = CURRENT_USER);
comment on policy all_graph_basic on app_hidden.idempotency_keys is 'A token keeps and reads answers to its own application, person and role only.';

create policy all_graph_user on app_hidden.idempotency_keys for all to graph_user
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND application_id = (( SELECT app_hidden.current_application_id() AS current_application_id)) AND principal_id = COALESCE(( SELECT app_hidden.current_user_id() AS current_user_id), ( SELECT app_hidden.current_application_id() AS current_application_id)) AND role = CURRENT_USER)
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND application_id = (( SELECT app_hidden.current_application_id() AS current_application_id)) AND principal_id = COALESCE(( SELECT app_hidden.current_user_id() AS current_user_id), ( SELECT app_hidden.current_application_id() AS current_application_id)) AND role = CURRENT_USER);
comment on policy all_graph_user on app_hidden.idempotency_keys is 'A token keeps and reads answers to its own application, person and role only.';

create policy delete_graph_purger on app_hidden.idempotency_keys for delete to graph_purger
  using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on app_hidden.idempotency_keys is 'oauth.purge_idempotency_keys deletes expired answers.';

create policy select_graph_purger on app_hidden.idempotency_keys for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on app_hidden.idempotency_keys is 'oauth.purge_idempotency_keys looks for expired answers, but of no organization that is being moved, or has moved.';

CREATE TRIGGER count_idempotency_key AFTER INSERT ON app_hidden.idempotency_keys FOR EACH ROW EXECUTE FUNCTION app_hidden.count_idempotency_key();

grant delete, insert, select, update on app_hidden.idempotency_keys to graph_admin;
grant delete, insert, select on app_hidden.idempotency_keys to graph_app;
grant delete, insert, select on app_hidden.idempotency_keys to graph_basic;
grant delete, select (organization_id, application_id, principal_id, role, key_hash, expires_at) on app_hidden.idempotency_keys to graph_purger;
grant delete, insert, select on app_hidden.idempotency_keys to graph_user;

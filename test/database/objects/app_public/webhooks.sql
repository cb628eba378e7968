create table app_public.webhooks (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  url text not null,
  type_names text[],
  enabled boolean default true not null,
  secret_ciphertext bytea not null,
  previous_secret_ciphertext bytea,
  previous_valid_until timestamp with time zone,
  created_at timestamp with time zone default statement_timestamp() not null,
  constraint webhooks_pkey PRIMARY KEY (organization_id, id),
  constraint webhooks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id) ON DELETE CASCADE,
  constraint webhooks_previous_secret_ciphertext_length CHECK (octet_length(previous_secret_ciphertext) >= 28 AND octet_length(previous_secret_ciphertext) <= 200),
  constraint webhooks_previous_secret_complete CHECK ((previous_secret_ciphertext IS NULL) = (previous_valid_until IS NULL)),
  constraint webhooks_secret_ciphertext_length CHECK (octet_length(secret_ciphertext) >= 28 AND octet_length(secret_ciphertext) <= 200),
  constraint webhooks_type_names_count CHECK (cardinality(type_names) >= 1 AND cardinality(type_names) <= 100 AND array_position(type_names, NULL::text) IS NULL),
  constraint webhooks_url_length CHECK (length(url) >= 1 AND length(url) <= 2000)
);
comment on table app_public.webhooks is '@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName webhooks|@forwardBehavior -*|@backwardBehavior -list +connection|@backwardDescription All webhooks of the organization.
A URL that changes are sent to, as Standard Webhooks say.';
comment on column app_public.webhooks.url is '@behavior -orderBy
Where changes are sent to.';
comment on column app_public.webhooks.type_names is '@behavior -*
The types whose changes are sent; null for all.';
comment on column app_public.webhooks.enabled is '@behavior -orderBy
Whether changes are sent. What was not sent meanwhile is sent afterwards.';
comment on column app_public.webhooks.secret_ciphertext is '@behavior -*
What deliveries are signed with, AES-256-GCM under SECRET_KEY; only the service can read it.';
comment on column app_public.webhooks.previous_secret_ciphertext is '@behavior -*
The secret before, which signs, too, until previous_valid_until.';
comment on column app_public.webhooks.previous_valid_until is '@behavior -*
How long the secret before signs, too.';
comment on column app_public.webhooks.created_at is '@behavior -orderBy
When it was created. Changes from then on are sent.';

comment on constraint webhooks_type_names_count on app_public.webhooks is '@argument typeNames
Name one type or more, or leave typeNames out for all.';

comment on constraint webhooks_url_length on app_public.webhooks is '@argument url
A URL has at most 2,000 characters.';

alter table app_public.webhooks enable row level security, force row level security;

create policy all_graph_admin on app_public.webhooks for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on app_public.webhooks is 'Administration sees and changes every webhook.';

create policy delete_graph_app on app_public.webhooks for delete to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy delete_graph_app on app_public.webhooks is 'An application deletes webhooks of its organization.';

create policy insert_graph_app on app_public.webhooks for insert to graph_app
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy insert_graph_app on app_public.webhooks is 'An application adds webhooks to its own organization only.';

create policy select_graph_app on app_public.webhooks for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_app on app_public.webhooks is 'An application sees the webhooks of its organization.';

create policy select_graph_basic on app_public.webhooks for select to graph_basic
  using (false);
comment on policy select_graph_basic on app_public.webhooks is 'A basic token reads no row.';

create policy select_graph_user on app_public.webhooks for select to graph_user
  using (false);
comment on policy select_graph_user on app_public.webhooks is 'A person sees no webhook.';

create policy select_graph_worker on app_public.webhooks for select to graph_worker
  using (true);
comment on policy select_graph_worker on app_public.webhooks is 'The worker sends for every organization.';

create policy update_graph_app on app_public.webhooks for update to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_app on app_public.webhooks is 'An application changes the webhooks of its organization.';

create policy update_graph_worker on app_public.webhooks for update to graph_worker
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_worker on app_public.webhooks is 'The worker disables a webhook whose receiver is gone for good (410).';

CREATE TRIGGER audit_columns AFTER UPDATE OF secret_ciphertext, previous_secret_ciphertext, created_at ON app_public.webhooks FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON app_public.webhooks REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssd');

CREATE TRIGGER audit_insert AFTER INSERT ON app_public.webhooks REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ssd');

CREATE TRIGGER audit_update AFTER UPDATE ON app_public.webhooks FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('ssd');

grant delete, insert, select, update on app_public.webhooks to graph_admin;
grant delete, insert (organization_id, id, url, type_names, secret_ciphertext), select, update (url, type_names, enabled, secret_ciphertext, previous_secret_ciphertext, previous_valid_until) on app_public.webhooks to graph_app;
grant select (organization_id, id, url, type_names, enabled, created_at) on app_public.webhooks to graph_basic;
grant select (organization_id, id, url, type_names, enabled, created_at) on app_public.webhooks to graph_user;
grant select, update (enabled) on app_public.webhooks to graph_worker;

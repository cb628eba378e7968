create table oauth.credentials (
  organization_id uuid not null,
  user_id uuid not null,
  password_hash text,
  disabled_at timestamp with time zone,
  constraint credentials_pkey PRIMARY KEY (organization_id, user_id),
  constraint credentials_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE,
  constraint credentials_password_hash_argon2id CHECK (password_hash ~ '^\$argon2id\$'::text AND char_length(password_hash) <= 500)
);
comment on table oauth.credentials is 'How a person signs in: the argon2id hash of the password, and whether the person is disabled.';

alter table oauth.credentials enable row level security, force row level security;

create policy all_graph_admin on oauth.credentials for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.credentials is 'Administration sets passwords and disables people.';

create policy select_graph_helper on oauth.credentials for select to graph_helper
  using (true);
comment on policy select_graph_helper on oauth.credentials is 'oauth.verify_access_token asks whether the person is disabled.';

create policy select_graph_oauth on oauth.credentials for select to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_oauth on oauth.credentials is 'The OAuth server checks passwords of the organization it works for.';

create policy update_graph_oauth on oauth.credentials for update to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy update_graph_oauth on oauth.credentials is 'The OAuth server renews a hash whose parameters are out of date when the person signs in.';

CREATE TRIGGER audit_columns AFTER UPDATE OF user_id, password_hash ON oauth.credentials FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON oauth.credentials REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ps');

CREATE TRIGGER audit_insert AFTER INSERT ON oauth.credentials REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('ps');

CREATE TRIGGER audit_update AFTER UPDATE ON oauth.credentials FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('ps');

grant delete, insert, select, update on oauth.credentials to graph_admin;
grant select (organization_id, user_id, disabled_at) on oauth.credentials to graph_helper;
grant select, update (password_hash) on oauth.credentials to graph_oauth;

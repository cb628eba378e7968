create table oauth.application_secrets (
  organization_id uuid not null,
  application_id uuid not null,
  secret_hash bytea not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint application_secrets_pkey PRIMARY KEY (organization_id, application_id, secret_hash),
  constraint application_secrets_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE,
  constraint application_secrets_secret_hash_length CHECK (octet_length(secret_hash) = 32)
);
comment on table oauth.application_secrets is 'SHA-256 of the client secrets; the two newest of each application are valid.';

alter table oauth.application_secrets enable row level security, force row level security;

create policy all_graph_admin on oauth.application_secrets for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.application_secrets is 'Administration issues and retires secrets.';

create policy select_graph_helper on oauth.application_secrets for select to graph_helper
  using (true);
comment on policy select_graph_helper on oauth.application_secrets is 'oauth.find_application hands the hashes to the OAuth server.';

CREATE TRIGGER audit_columns AFTER UPDATE OF application_id, secret_hash ON oauth.application_secrets FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION suppress_redundant_updates_trigger();

CREATE TRIGGER audit_delete AFTER DELETE ON oauth.application_secrets REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('bs');

CREATE TRIGGER audit_insert AFTER INSERT ON oauth.application_secrets REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('bs');

CREATE TRIGGER audit_update AFTER UPDATE ON oauth.application_secrets FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('bs');

grant delete, insert, select, update on oauth.application_secrets to graph_admin;
grant select on oauth.application_secrets to graph_helper;

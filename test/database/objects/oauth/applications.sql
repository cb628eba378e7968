create table oauth.applications (
  organization_id uuid not null,
  id uuid default app_hidden.uuid_v7() not null,
  name text not null,
  client_id text not null,
  confidential boolean default true not null,
  scopes text[] default '{app}'::text[] not null,
  redirect_uris text[] default '{}'::text[] not null,
  mobile_app_authentication_type text,
  disabled_at timestamp with time zone,
  constraint applications_pkey PRIMARY KEY (organization_id, id),
  constraint applications_client_id_key UNIQUE (client_id),
  constraint applications_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES app_hidden.organizations(id),
  constraint applications_client_id_format CHECK (client_id ~ '^[\x21-\x7e]{1,200}$'::text AND client_id !~ ':'::text),
  constraint applications_mobile_app_authentication_type_known CHECK (mobile_app_authentication_type = ANY (ARRAY['password'::text, 'external_authentication_token'::text])),
  constraint applications_name_text CHECK (app_hidden.is_text(name)),
  constraint applications_redirect_uris_length CHECK (cardinality(redirect_uris) <= 50 AND char_length(array_to_string(redirect_uris, ''::text)) <= 50000),
  constraint applications_scopes_confidential CHECK (confidential OR scopes <@ '{me}'::text[]),
  constraint applications_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[])
);
comment on table oauth.applications is 'An API application: a client in the sense of RFC 6749.';
comment on column oauth.applications.confidential is 'Whether it can keep a secret (RFC 6749 section 2.1). A public client has none.';
comment on column oauth.applications.mobile_app_authentication_type is 'How the users of its mobile app sign in; null without a mobile app.';

alter table oauth.applications enable row level security, force row level security;

create policy all_graph_admin on oauth.applications for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.applications is 'Administration sees and changes every application.';

create policy select_graph_app on oauth.applications for select to graph_app
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)) AND id = (( SELECT app_hidden.current_application_id() AS current_application_id)));
comment on policy select_graph_app on oauth.applications is 'An application sees itself.';

create policy select_graph_helper on oauth.applications for select to graph_helper
  using (true);
comment on policy select_graph_helper on oauth.applications is 'oauth.find_application and oauth.verify_access_token look a client up before its organization is known.';

create policy select_graph_oauth on oauth.applications for select to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy select_graph_oauth on oauth.applications is 'The OAuth server sees the applications of the organization it works for.';

CREATE TRIGGER audit_delete AFTER DELETE ON oauth.applications REFERENCING OLD TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('');

CREATE TRIGGER audit_insert AFTER INSERT ON oauth.applications REFERENCING NEW TABLE AS affected FOR EACH STATEMENT EXECUTE FUNCTION audit.record_rows('');

CREATE TRIGGER audit_update AFTER UPDATE ON oauth.applications FOR EACH ROW WHEN (old.* *<> new.*) EXECUTE FUNCTION audit.record_update('');

grant delete, insert, select, update on oauth.applications to graph_admin;
grant select (organization_id, id, name) on oauth.applications to graph_app;
grant select on oauth.applications to graph_helper;
grant select on oauth.applications to graph_oauth;

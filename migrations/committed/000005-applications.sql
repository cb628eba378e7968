--! Previous: sha1:91f534cc9426659fa850ecc9d12a7a46eda4715a
--! Hash: sha1:000beddf2cae0ef66a4744fb4df989d6aec6194a
--! Message: applications

-- An application is what OAuth calls a client. It belongs to one organization. It may have a mobile app, which decides how users sign in.
--
-- Its client id is the one key that spans organizations, since the OAuth server knows a client by its id before its organization.
-- An application sees itself and cannot change itself: administration does. No request reads the secrets.

create table oauth.applications (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  name text not null,
  client_id text not null,
  confidential boolean not null default true,
  scopes text[] not null default '{app}',
  redirect_uris text[] not null default '{}',
  mobile_app_authentication_type text,
  disabled_at timestamptz,
  constraint applications_pkey primary key (organization_id, id),
  constraint applications_organization_id_fkey foreign key (organization_id) references app_hidden.organizations,
  -- The one key that spans organizations: a client is known by its id before its organization is.
  constraint applications_client_id_key unique (client_id),
  constraint applications_name_text check (app_hidden.is_text(name)),
  constraint applications_client_id_format check (client_id ~ '^[\x21-\x7e]{1,200}$' and client_id !~ ':'),
  constraint applications_scopes_known check (cardinality(scopes) > 0 and scopes <@ '{app,basic,me}'),
  constraint applications_scopes_confidential check (confidential or scopes <@ '{me}'),
  constraint applications_redirect_uris_length check (cardinality(redirect_uris) <= 50 and char_length(array_to_string(redirect_uris, '')) <= 50000),
  constraint applications_mobile_app_authentication_type_known
    check (mobile_app_authentication_type in ('password', 'external_authentication_token'))
);
comment on table oauth.applications is 'An API application: a client in the sense of RFC 6749.';
comment on column oauth.applications.confidential is 'Whether it can keep a secret (RFC 6749 section 2.1). A public client has none.';
comment on column oauth.applications.mobile_app_authentication_type is 'How the users of its mobile app sign in; null without a mobile app.';

alter table oauth.applications enable row level security, force row level security;
create policy all_graph_admin on oauth.applications for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.applications is 'Administration sees and changes every application.';
create policy select_graph_helper on oauth.applications for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.applications is 'oauth.find_application and oauth.verify_access_token look a client up before its organization is known.';
create policy select_graph_oauth on oauth.applications for select to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()));
comment on policy select_graph_oauth on oauth.applications is 'The OAuth server sees the applications of the organization it works for.';
create policy select_graph_app on oauth.applications for select to graph_app
  using (organization_id = (select app_hidden.current_organization_id()) and id = (select app_hidden.current_application_id()));
comment on policy select_graph_app on oauth.applications is 'An application sees itself.';

grant select, insert, update, delete on oauth.applications to graph_admin;
grant select on oauth.applications to graph_helper, graph_oauth;
grant select (organization_id, id, name) on oauth.applications to graph_app;

-- Two secrets are valid at once, so that one can be replaced without a pause. Only their SHA-256 is kept: they are 256 random bits.

create table oauth.application_secrets (
  organization_id uuid not null,
  application_id uuid not null,
  secret_hash bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint application_secrets_pkey primary key (organization_id, application_id, secret_hash),
  constraint application_secrets_application_id_fkey foreign key (organization_id, application_id)
    references oauth.applications on delete cascade,
  constraint application_secrets_secret_hash_length check (octet_length(secret_hash) = 32)
);
comment on table oauth.application_secrets is 'SHA-256 of the client secrets; the two newest of each application are valid.';

alter table oauth.application_secrets enable row level security, force row level security;
create policy all_graph_admin on oauth.application_secrets for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.application_secrets is 'Administration issues and retires secrets.';
create policy select_graph_helper on oauth.application_secrets for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.application_secrets is 'oauth.find_application hands the hashes to the OAuth server.';
grant select, insert, update, delete on oauth.application_secrets to graph_admin;
grant select on oauth.application_secrets to graph_helper;

create function oauth.find_application(client_id text)
  returns table (
    organization_id uuid, id uuid, name text, confidential boolean, scopes text[], redirect_uris text[],
    mobile_app_authentication_type text, secret_hashes bytea[]
  )
  language sql stable security definer set search_path = pg_catalog, pg_temp
  as $$
    -- Runs as graph_helper because the organization, which every policy asks for, is what this finds out.
    select
      a.organization_id, a.id, a.name, a.confidential, a.scopes, a.redirect_uris, a.mobile_app_authentication_type,
      array(
        select s.secret_hash
        from oauth.application_secrets s
        where s.organization_id = a.organization_id and s.application_id = a.id
        order by s.created_at desc
        limit 2
      )
    from oauth.applications a
    where a.client_id = find_application.client_id and a.disabled_at is null
  $$;
comment on function oauth.find_application(text) is 'The enabled application with this client id, and the SHA-256 of its valid secrets, newest first.';
grant create on schema oauth to graph_helper;
alter function oauth.find_application(text) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.find_application(text) to graph_oauth;

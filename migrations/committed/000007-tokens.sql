--! Previous: sha1:4a6d60a3bada51f3b2446f3f85c10a5e2dd1bfe8
--! Hash: sha1:105dc8f329f1aca1af746c0d6e06eaba925b9bd3
--! Message: tokens

-- A grant is what an application was allowed once: by itself, by a password, by a person's consent. Tokens live below their grant.
-- A grant is live while it exists: to revoke is to delete it, and the tokens go with it, on every node, at once.
-- At rest there are SHA-256 hashes only: tokens and codes are 256 random bits.

drop function if exists oauth.verify_access_token(bytea);
drop table if exists oauth.authorization_codes;
drop table if exists oauth.refresh_tokens;
drop table if exists oauth.access_tokens;
drop table if exists oauth.grants;

create table oauth.grants (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  application_id uuid not null,
  user_id uuid,
  grant_type text not null,
  scopes text[] not null,
  client_authentication text not null,
  created_at timestamptz not null default clock_timestamp(),
  constraint grants_pkey primary key (organization_id, id),
  constraint grants_application_id_fkey foreign key (organization_id, application_id) references oauth.applications on delete cascade,
  constraint grants_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint grants_grant_type_known check (grant_type in ('client_credentials', 'password', 'authorization_code')),
  constraint grants_scopes_known check (cardinality(scopes) > 0 and scopes <@ '{app,basic,me}'),
  constraint grants_client_authentication_known check (client_authentication in ('none', 'secret')),
  constraint grants_user_id_scopes check ((user_id is null) = (grant_type = 'client_credentials') and (user_id is null) = not ('me' = any (scopes)))
);
-- An application's own grant is one for each set of scopes, so that asking again does not pile up grants.
create unique index grants_application_id_scopes_key on oauth.grants (organization_id, application_id, scopes) where user_id is null;
create index grants_application_id_idx on oauth.grants (organization_id, application_id);
create index grants_user_id_idx on oauth.grants (organization_id, user_id) where user_id is not null;
comment on table oauth.grants is 'What an application was allowed, and how it had authenticated then. Deleting it ends every token below it.';
comment on column oauth.grants.client_authentication is 'How the client authenticated: a refresh needs the same or stronger.';

create table oauth.access_tokens (
  organization_id uuid not null,
  token_hash bytea not null,
  grant_id uuid not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  constraint access_tokens_pkey primary key (token_hash, organization_id),
  constraint access_tokens_grant_id_fkey foreign key (organization_id, grant_id) references oauth.grants on delete cascade,
  constraint access_tokens_token_hash_length check (octet_length(token_hash) = 32),
  constraint access_tokens_scopes_known check (cardinality(scopes) > 0 and scopes <@ '{app,basic,me}')
);
create index access_tokens_grant_id_idx on oauth.access_tokens (organization_id, grant_id, expires_at);
create index access_tokens_expires_at_idx on oauth.access_tokens (expires_at);
comment on table oauth.access_tokens is 'SHA-256 of the access tokens.';

create table oauth.refresh_tokens (
  organization_id uuid not null,
  token_hash bytea not null,
  grant_id uuid not null,
  scopes text[] not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  absolute_expires_at timestamptz not null,
  used_at timestamptz,
  successor_hash bytea,
  reply_ciphertext bytea,
  constraint refresh_tokens_pkey primary key (token_hash, organization_id),
  constraint refresh_tokens_grant_id_fkey foreign key (organization_id, grant_id) references oauth.grants on delete cascade,
  constraint refresh_tokens_token_hash_length check (octet_length(token_hash) = 32),
  constraint refresh_tokens_successor_hash_length check (octet_length(successor_hash) = 32),
  constraint refresh_tokens_scopes_known check (cardinality(scopes) > 0 and scopes <@ '{app,basic,me}'),
  constraint refresh_tokens_expires_at_range check (expires_at <= absolute_expires_at),
  constraint refresh_tokens_used_whole check ((used_at is null) = (successor_hash is null)),
  constraint refresh_tokens_reply_ciphertext_length check (octet_length(reply_ciphertext) <= 4096)
);
create index refresh_tokens_grant_id_idx on oauth.refresh_tokens (organization_id, grant_id, expires_at);
create index refresh_tokens_expires_at_idx on oauth.refresh_tokens (expires_at);
comment on table oauth.refresh_tokens is 'SHA-256 of the refresh tokens. A used one is kept to notice its reuse.';
comment on column oauth.refresh_tokens.expires_at is 'Idle limit: each rotation sets it anew.';
comment on column oauth.refresh_tokens.absolute_expires_at is 'Absolute limit: each rotation hands it on.';
comment on column oauth.refresh_tokens.reply_ciphertext is 'The reply that this token bought, AES-256-GCM under a key that only the token itself gives.';

create table oauth.authorization_codes (
  organization_id uuid not null,
  code_hash bytea not null,
  application_id uuid not null,
  user_id uuid not null,
  scopes text[] not null,
  redirect_uri text not null,
  code_challenge text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz,
  grant_id uuid,
  constraint authorization_codes_pkey primary key (code_hash, organization_id),
  constraint authorization_codes_application_id_fkey foreign key (organization_id, application_id) references oauth.applications on delete cascade,
  constraint authorization_codes_user_id_fkey foreign key (organization_id, user_id) references app_public.users on delete cascade,
  constraint authorization_codes_grant_id_fkey foreign key (organization_id, grant_id) references oauth.grants on delete cascade,
  constraint authorization_codes_code_hash_length check (octet_length(code_hash) = 32),
  constraint authorization_codes_scopes_known check (scopes <@ '{me}' and cardinality(scopes) > 0),
  constraint authorization_codes_redirect_uri_length check (char_length(redirect_uri) <= 2000),
  constraint authorization_codes_code_challenge_format check (code_challenge ~ '^[A-Za-z0-9_-]{43}$')
);
create index authorization_codes_application_id_idx on oauth.authorization_codes (organization_id, application_id);
create index authorization_codes_user_id_idx on oauth.authorization_codes (organization_id, user_id);
create index authorization_codes_grant_id_idx on oauth.authorization_codes (organization_id, grant_id);
create index authorization_codes_expires_at_idx on oauth.authorization_codes (expires_at);
comment on table oauth.authorization_codes is 'SHA-256 of the authorization codes, with the PKCE challenge (S256) and redirect that each is bound to.';
comment on column oauth.authorization_codes.grant_id is 'What the code bought; replaying the code deletes it.';

do $$
declare
  table_name text;
begin
  foreach table_name in array array['grants', 'access_tokens', 'refresh_tokens', 'authorization_codes'] loop
    execute format('alter table oauth.%I enable row level security, force row level security', table_name);
    execute format('create policy all_graph_admin on oauth.%I for all to graph_admin using (true) with check (true)', table_name);
    execute format('comment on policy all_graph_admin on oauth.%I is %L', table_name,
      'Administration ends grants and purges what expired.');
    execute format(
      'create policy all_graph_oauth on oauth.%I for all to graph_oauth
         using (organization_id = (select app_hidden.current_organization_id()))
         with check (organization_id = (select app_hidden.current_organization_id()))', table_name);
    execute format('comment on policy all_graph_oauth on oauth.%I is %L', table_name,
      'The OAuth server issues, uses and ends what belongs to the organization it works for.');
    execute format('grant select, insert, update, delete on oauth.%I to graph_admin', table_name);
    execute format('grant select, insert, update, delete on oauth.%I to graph_oauth', table_name);
  end loop;
end
$$;

create policy select_graph_helper on oauth.grants for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.grants is 'oauth.verify_access_token reads the grant of a token.';
create policy select_graph_helper on oauth.access_tokens for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.access_tokens is 'oauth.verify_access_token finds a token by its hash.';
grant select on oauth.grants, oauth.access_tokens to graph_helper;

create function oauth.verify_access_token(token_hash bytea)
  returns table (
    organization_id uuid, application_id uuid, client_id text, user_id uuid, grant_id uuid, scopes text[],
    created_at timestamptz, expires_at timestamptz
  )
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  as $$
  begin
    -- Runs as graph_helper because the organization, which every policy asks for, is what this finds out.
    return query
      select g.organization_id, g.application_id, a.client_id, g.user_id, g.id, t.scopes, t.created_at, t.expires_at
      from oauth.access_tokens t
      join oauth.grants g on g.organization_id = t.organization_id and g.id = t.grant_id
      join oauth.applications a on a.organization_id = g.organization_id and a.id = g.application_id
      where t.token_hash = verify_access_token.token_hash
        and t.expires_at > statement_timestamp()
        and a.disabled_at is null
        and not exists (
          select from oauth.credentials c
          where c.organization_id = g.organization_id and c.user_id = g.user_id and c.disabled_at is not null);
  end
  $$;
comment on function oauth.verify_access_token(bytea) is 'The claims of a live access token: not expired, not revoked, its application and person enabled.';
grant create on schema oauth to graph_helper;
alter function oauth.verify_access_token(bytea) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.verify_access_token(bytea) to graph_oauth;

--! Previous: sha1:c97aaf256b70a4fd1f1d329bd49a1c1c9b1878c5
--! Hash: sha1:0d4a4ffc44b5f6d905406b90fe81b5ed174e9c86
--! Message: authorization codes

-- An authorization code is what a browser carries from a person's consent to the application. It is good once and for a minute, for one
-- redirect and one PKCE challenge. It is kept for a day after it expired: until then a replay is noticed, and ends what the code bought.

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
) with (autovacuum_vacuum_scale_factor = 0.02);
create index authorization_codes_application_id_idx on oauth.authorization_codes (organization_id, application_id);
create index authorization_codes_user_id_idx on oauth.authorization_codes (organization_id, user_id);
create index authorization_codes_grant_id_idx on oauth.authorization_codes (organization_id, grant_id);
create index authorization_codes_expires_at_idx on oauth.authorization_codes (expires_at);
comment on table oauth.authorization_codes is 'SHA-256 of the authorization codes, with the PKCE challenge (S256) and redirect that each is bound to.';
comment on column oauth.authorization_codes.grant_id is 'What the code bought; replaying the code deletes it.';

alter table oauth.authorization_codes enable row level security, force row level security;
create policy all_graph_admin on oauth.authorization_codes for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.authorization_codes is 'Administration ends grants and purges what expired.';
create policy all_graph_oauth on oauth.authorization_codes for all to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy all_graph_oauth on oauth.authorization_codes is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';
create policy select_graph_purger on oauth.authorization_codes for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on oauth.authorization_codes is 'oauth.purge_rows looks for expired codes, but of no organization that is being moved, or has moved.';
create policy delete_graph_purger on oauth.authorization_codes for delete to graph_purger
  using (expires_at <= statement_timestamp() - interval '1 day');
comment on policy delete_graph_purger on oauth.authorization_codes is 'oauth.purge_rows deletes codes a day after they expired: until then a replay is noticed.';
grant select, insert, update, delete on oauth.authorization_codes to graph_admin, graph_oauth;
create policy update_graph_purger on oauth.authorization_codes for update to graph_purger using (true) with check (false);
comment on policy update_graph_purger on oauth.authorization_codes is 'oauth.purge_rows locks codes; it can change none.';
grant select (organization_id, code_hash, expires_at), update (code_hash), delete on oauth.authorization_codes to graph_purger;

create table oauth.authorization_codes (
  organization_id uuid not null,
  code_hash bytea not null,
  application_id uuid not null,
  user_id uuid not null,
  scopes text[] not null,
  redirect_uri text not null,
  code_challenge text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  grant_id uuid,
  constraint authorization_codes_pkey PRIMARY KEY (code_hash, organization_id),
  constraint authorization_codes_application_id_fkey FOREIGN KEY (organization_id, application_id) REFERENCES oauth.applications(organization_id, id) ON DELETE CASCADE,
  constraint authorization_codes_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES oauth.grants(organization_id, id) ON DELETE CASCADE,
  constraint authorization_codes_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES app_public.users(organization_id, id) ON DELETE CASCADE,
  constraint authorization_codes_code_challenge_format CHECK (code_challenge ~ '^[A-Za-z0-9_-]{43}$'::text),
  constraint authorization_codes_code_hash_length CHECK (octet_length(code_hash) = 32),
  constraint authorization_codes_redirect_uri_length CHECK (char_length(redirect_uri) <= 2000),
  constraint authorization_codes_scopes_known CHECK (scopes <@ '{me}'::text[] AND cardinality(scopes) > 0)
)
with (autovacuum_vacuum_scale_factor=0.02);
comment on table oauth.authorization_codes is 'SHA-256 of the authorization codes, with the PKCE challenge (S256) and redirect that each is bound to.';
comment on column oauth.authorization_codes.grant_id is 'What the code bought; replaying the code deletes it.';

alter table oauth.authorization_codes enable row level security, force row level security;

CREATE INDEX authorization_codes_application_id_idx ON oauth.authorization_codes USING btree (organization_id, application_id);

CREATE INDEX authorization_codes_expires_at_idx ON oauth.authorization_codes USING btree (expires_at);

CREATE INDEX authorization_codes_grant_id_idx ON oauth.authorization_codes USING btree (organization_id, grant_id);

CREATE INDEX authorization_codes_user_id_idx ON oauth.authorization_codes USING btree (organization_id, user_id);

create policy all_graph_admin on oauth.authorization_codes for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.authorization_codes is 'Administration ends grants and purges what expired.';

create policy all_graph_oauth on oauth.authorization_codes for all to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy all_graph_oauth on oauth.authorization_codes is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';

create policy delete_graph_purger on oauth.authorization_codes for delete to graph_purger
  using (expires_at <= (statement_timestamp() - '1 day'::interval));
comment on policy delete_graph_purger on oauth.authorization_codes is 'oauth.purge_authorization_codes deletes codes a day after they expired: until then a replay is noticed.';

create policy select_graph_purger on oauth.authorization_codes for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on oauth.authorization_codes is 'oauth.purge_authorization_codes looks for expired codes, but of no organization that is being moved, or has moved.';

create policy update_graph_purger on oauth.authorization_codes for update to graph_purger
  using (true)
  with check (false);
comment on policy update_graph_purger on oauth.authorization_codes is 'oauth.purge_authorization_codes locks codes; it can change none.';

grant delete, insert, select, update on oauth.authorization_codes to graph_admin;
grant delete, insert, select, update on oauth.authorization_codes to graph_oauth;
grant delete, select (organization_id, code_hash, expires_at), update (code_hash) on oauth.authorization_codes to graph_purger;

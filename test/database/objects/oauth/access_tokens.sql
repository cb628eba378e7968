create table oauth.access_tokens (
  organization_id uuid not null,
  token_hash bytea not null,
  grant_id uuid not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  constraint access_tokens_pkey PRIMARY KEY (token_hash, organization_id),
  constraint access_tokens_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES oauth.grants(organization_id, id) ON DELETE CASCADE,
  constraint access_tokens_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]),
  constraint access_tokens_token_hash_length CHECK (octet_length(token_hash) = 32)
)
with (autovacuum_vacuum_scale_factor=0.02);
comment on table oauth.access_tokens is 'SHA-256 of the access tokens.';

alter table oauth.access_tokens enable row level security, force row level security;

CREATE INDEX access_tokens_expires_at_idx ON oauth.access_tokens USING btree (expires_at);

CREATE INDEX access_tokens_grant_id_idx ON oauth.access_tokens USING btree (organization_id, grant_id, expires_at);

create policy all_graph_admin on oauth.access_tokens for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.access_tokens is 'Administration ends grants and purges what expired.';

create policy all_graph_oauth on oauth.access_tokens for all to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy all_graph_oauth on oauth.access_tokens is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';

create policy delete_graph_purger on oauth.access_tokens for delete to graph_purger
  using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on oauth.access_tokens is 'oauth.purge_tokens deletes expired tokens.';

create policy select_graph_helper on oauth.access_tokens for select to graph_helper
  using (true);
comment on policy select_graph_helper on oauth.access_tokens is 'oauth.verify_access_token finds a token by its hash.';

create policy select_graph_purger on oauth.access_tokens for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on oauth.access_tokens is 'oauth.purge_tokens asks whether a grant has tokens left, but of no organization that is being moved, or has moved.';

grant delete, insert, select, update on oauth.access_tokens to graph_admin;
grant select on oauth.access_tokens to graph_helper;
grant delete, insert, select, update on oauth.access_tokens to graph_oauth;
grant delete, select (organization_id, token_hash, grant_id, expires_at) on oauth.access_tokens to graph_purger;

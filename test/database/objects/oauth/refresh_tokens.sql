create table oauth.refresh_tokens (
  organization_id uuid not null,
  token_hash bytea not null,
  grant_id uuid not null,
  scopes text[] not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  absolute_expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  successor_hash bytea,
  reply_ciphertext bytea,
  constraint refresh_tokens_pkey PRIMARY KEY (token_hash, organization_id),
  constraint refresh_tokens_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES oauth.grants(organization_id, id) ON DELETE CASCADE,
  constraint refresh_tokens_expires_at_range CHECK (expires_at <= absolute_expires_at),
  constraint refresh_tokens_reply_ciphertext_length CHECK (octet_length(reply_ciphertext) <= 4096),
  constraint refresh_tokens_scopes_known CHECK (cardinality(scopes) > 0 AND scopes <@ '{app,basic,me}'::text[]),
  constraint refresh_tokens_successor_hash_length CHECK (octet_length(successor_hash) = 32),
  constraint refresh_tokens_token_hash_length CHECK (octet_length(token_hash) = 32),
  constraint refresh_tokens_used_whole CHECK ((used_at IS NULL) = (successor_hash IS NULL))
)
with (autovacuum_vacuum_scale_factor=0.02);
comment on table oauth.refresh_tokens is 'SHA-256 of the refresh tokens. A used one is kept to notice its reuse.';
comment on column oauth.refresh_tokens.expires_at is 'Idle limit: each rotation sets it anew.';
comment on column oauth.refresh_tokens.absolute_expires_at is 'Absolute limit: each rotation hands it on.';
comment on column oauth.refresh_tokens.reply_ciphertext is 'The reply that this token bought, AES-256-GCM under a key that only the token itself gives.';

alter table oauth.refresh_tokens enable row level security, force row level security;

CREATE INDEX refresh_tokens_expires_at_idx ON oauth.refresh_tokens USING btree (expires_at);

CREATE INDEX refresh_tokens_grant_id_idx ON oauth.refresh_tokens USING btree (organization_id, grant_id, expires_at);

CREATE INDEX refresh_tokens_unused_idx ON oauth.refresh_tokens USING btree (organization_id, grant_id, created_at) WHERE used_at IS NULL;

create policy all_graph_admin on oauth.refresh_tokens for all to graph_admin
  using (true)
  with check (true);
comment on policy all_graph_admin on oauth.refresh_tokens is 'Administration ends grants and purges what expired.';

create policy all_graph_oauth on oauth.refresh_tokens for all to graph_oauth
  using (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)))
  with check (organization_id = (( SELECT app_hidden.current_organization_id() AS current_organization_id)));
comment on policy all_graph_oauth on oauth.refresh_tokens is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';

create policy delete_graph_purger on oauth.refresh_tokens for delete to graph_purger
  using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on oauth.refresh_tokens is 'oauth.purge_tokens deletes expired tokens; a used one stays until then, to notice its reuse.';

create policy select_graph_purger on oauth.refresh_tokens for select to graph_purger
  using (organization_id <> ALL ((( SELECT app_hidden.moving_organization_ids() AS moving_organization_ids))::uuid[]));
comment on policy select_graph_purger on oauth.refresh_tokens is 'oauth.purge_tokens asks whether a grant has tokens left, but of no organization that is being moved, or has moved.';

grant delete, insert, select, update on oauth.refresh_tokens to graph_admin;
grant delete, insert, select, update on oauth.refresh_tokens to graph_oauth;
grant delete, select (organization_id, token_hash, grant_id, expires_at) on oauth.refresh_tokens to graph_purger;

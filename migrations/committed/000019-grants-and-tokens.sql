--! Previous: sha1:f0257e347df9bbcc575dc22e5082e830a1a55cc5
--! Hash: sha1:9c6ac6b78517b95c38bad163c013a04bb4c72551
--! Message: grants and tokens

-- A grant is what an application was allowed once: by itself, by a password, by a person's consent. Tokens live below their grant.
-- A grant is live while it exists: to revoke is to delete it, and the tokens go with it, on every node, at once.
-- The database has SHA-256 hashes only: tokens and codes are 256 random bits. So a token's hash comes first in its key.
--
-- A statement proves its token in the same transaction: the claims in force are compared with those of the token. So the server may
-- remember claims without being believed.

create table oauth.grants (
  organization_id uuid not null,
  id uuid not null default app_hidden.uuid_v7(),
  application_id uuid not null,
  user_id uuid,
  grant_type text not null,
  scopes text[] not null,
  client_authentication text not null,
  created_at timestamptz not null default clock_timestamp(),
  written_lsn pg_lsn,
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
comment on column oauth.grants.written_lsn is
  'Where the log was after the last change by a token of this grant, or when its first token was presented; kept only for servers that ask a replica.';

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
) with (autovacuum_vacuum_scale_factor = 0.02);
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
) with (autovacuum_vacuum_scale_factor = 0.02);
create index refresh_tokens_grant_id_idx on oauth.refresh_tokens (organization_id, grant_id, expires_at);
create index refresh_tokens_expires_at_idx on oauth.refresh_tokens (expires_at);
-- Each issue of a token by client credentials looks for the unused refresh tokens of its grant, beside which it may have many used ones.
create index refresh_tokens_unused_idx
  on oauth.refresh_tokens (organization_id, grant_id, created_at) where used_at is null;
comment on table oauth.refresh_tokens is 'SHA-256 of the refresh tokens. A used one is kept to notice its reuse.';
comment on column oauth.refresh_tokens.expires_at is 'Idle limit: each rotation sets it anew.';
comment on column oauth.refresh_tokens.absolute_expires_at is 'Absolute limit: each rotation hands it on.';
comment on column oauth.refresh_tokens.reply_ciphertext is 'The reply that this token bought, AES-256-GCM under a key that only the token itself gives.';

-- What may be purged is said by the policies of graph_purger and not by its functions, so that a mistake in one deletes nothing that is alive.
alter table oauth.grants enable row level security, force row level security;
create policy all_graph_admin on oauth.grants for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.grants is 'Administration ends grants and purges what expired.';
create policy all_graph_oauth on oauth.grants for all to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy all_graph_oauth on oauth.grants is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';
create policy select_graph_helper on oauth.grants for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.grants is 'oauth.verify_access_token reads the grant of a token.';
create policy select_graph_purger on oauth.grants for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on oauth.grants is 'oauth.purge_tokens looks for the grants of expired tokens, but of no organization that is being moved, or has moved.';
create policy update_graph_purger on oauth.grants for update to graph_purger using (true) with check (false);
comment on policy update_graph_purger on oauth.grants is 'oauth.purge_tokens locks grants; it can change none.';
create policy delete_graph_purger on oauth.grants for delete to graph_purger
  using (
    -- Of these organizations it sees no tokens.
    organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[])
    and not exists (select from oauth.access_tokens t where t.organization_id = grants.organization_id and t.grant_id = grants.id)
    and not exists (select from oauth.refresh_tokens t where t.organization_id = grants.organization_id and t.grant_id = grants.id));
comment on policy delete_graph_purger on oauth.grants is 'oauth.purge_tokens deletes grants that have no token left.';
grant select, insert, update, delete on oauth.grants to graph_admin, graph_oauth;
grant select on oauth.grants to graph_helper;
grant select (organization_id, id), update (id), delete on oauth.grants to graph_purger;

alter table oauth.access_tokens enable row level security, force row level security;
create policy all_graph_admin on oauth.access_tokens for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.access_tokens is 'Administration ends grants and purges what expired.';
create policy all_graph_oauth on oauth.access_tokens for all to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy all_graph_oauth on oauth.access_tokens is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';
create policy select_graph_helper on oauth.access_tokens for select to graph_helper using (true);
comment on policy select_graph_helper on oauth.access_tokens is 'oauth.verify_access_token finds a token by its hash.';
create policy select_graph_purger on oauth.access_tokens for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on oauth.access_tokens is 'oauth.purge_tokens asks whether a grant has tokens left, but of no organization that is being moved, or has moved.';
create policy delete_graph_purger on oauth.access_tokens for delete to graph_purger using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on oauth.access_tokens is 'oauth.purge_tokens deletes expired tokens.';
grant select, insert, update, delete on oauth.access_tokens to graph_admin, graph_oauth;
grant select on oauth.access_tokens to graph_helper;
grant select (organization_id, grant_id, token_hash, expires_at), delete on oauth.access_tokens to graph_purger;

alter table oauth.refresh_tokens enable row level security, force row level security;
create policy all_graph_admin on oauth.refresh_tokens for all to graph_admin using (true) with check (true);
comment on policy all_graph_admin on oauth.refresh_tokens is 'Administration ends grants and purges what expired.';
create policy all_graph_oauth on oauth.refresh_tokens for all to graph_oauth
  using (organization_id = (select app_hidden.current_organization_id()))
  with check (organization_id = (select app_hidden.current_organization_id()));
comment on policy all_graph_oauth on oauth.refresh_tokens is 'The OAuth server issues, uses and ends what belongs to the organization it works for.';
create policy select_graph_purger on oauth.refresh_tokens for select to graph_purger
  using (organization_id <> all ((select app_hidden.moving_organization_ids())::uuid[]));
comment on policy select_graph_purger on oauth.refresh_tokens is 'oauth.purge_tokens asks whether a grant has tokens left, but of no organization that is being moved, or has moved.';
create policy delete_graph_purger on oauth.refresh_tokens for delete to graph_purger using (expires_at <= statement_timestamp());
comment on policy delete_graph_purger on oauth.refresh_tokens is 'oauth.purge_tokens deletes expired tokens; a used one stays until then, to notice its reuse.';
grant select, insert, update, delete on oauth.refresh_tokens to graph_admin, graph_oauth;
grant select (organization_id, grant_id, token_hash, expires_at), delete on oauth.refresh_tokens to graph_purger;

create view oauth.live_access_tokens with (security_invoker) as
  select t.token_hash, g.organization_id, g.application_id, a.client_id, g.user_id, g.id as grant_id, t.scopes, t.created_at, t.expires_at
  from oauth.access_tokens t
  join oauth.grants g on g.organization_id = t.organization_id and g.id = t.grant_id
  join oauth.applications a on a.organization_id = g.organization_id and a.id = g.application_id
  where t.expires_at > statement_timestamp()
    and a.disabled_at is null
    and not exists (
      select from oauth.credentials c
      where c.organization_id = g.organization_id and c.user_id = g.user_id and c.disabled_at is not null);
comment on view oauth.live_access_tokens is 'The claims of the access tokens that open something now: not expired, not revoked, application and person enabled.';
grant select on oauth.live_access_tokens to graph_helper, graph_admin;

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
      select t.organization_id, t.application_id, t.client_id, t.user_id, t.grant_id, t.scopes, t.created_at, t.expires_at
      from oauth.live_access_tokens t
      where t.token_hash = verify_access_token.token_hash;
  end
  $$;
comment on function oauth.verify_access_token(bytea) is 'The claims of a live access token: not expired, not revoked, its application and person enabled.';
grant create on schema oauth to graph_helper;
alter function oauth.verify_access_token(bytea) owner to graph_helper;
revoke create on schema oauth from graph_helper;
grant execute on function oauth.verify_access_token(bytea) to graph_oauth;

create function app_hidden.require_access_token(token_hash bytea) returns void
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    is_own boolean;
    own_organization_id uuid;
  begin
    -- Runs as graph_helper because nobody who holds a token may look at tokens. Compared with what was found: as conditions of the
    -- search, which the planner would weigh, these cost as much again.
    select t.organization_id::text = current_setting('graph.organization_id', true)
      and t.application_id::text = current_setting('graph.application_id', true)
      and coalesce(t.user_id::text, '') = current_setting('graph.user_id', true)
      and t.grant_id::text = current_setting('graph.grant_id', true)
      and array_to_string(t.scopes, ' ') = current_setting('graph.scope', true),
      (select m.organization_id from app_hidden.organization_moves m where m.organization_id = t.organization_id)
      into is_own, own_organization_id
      from oauth.live_access_tokens t
      where t.token_hash = require_access_token.token_hash;
    if is_own is not true then
      raise exception 'the access token has ended, or its claims are not those in force' using errcode = 'TOKEN';
    end if;
    if own_organization_id is not null then
      perform app_hidden.require_service(own_organization_id);
    end if;
  end
  $$;
comment on function app_hidden.require_access_token(bytea) is
  'Fails with SQLSTATE TOKEN unless this is a live access token and the claims of this transaction are its own, and with MOVED unless its organization is served here.';
grant create on schema app_hidden to graph_helper;
alter function app_hidden.require_access_token(bytea) owner to graph_helper;
revoke create on schema app_hidden from graph_helper;
grant execute on function app_hidden.require_access_token(bytea) to graph_app, graph_user, graph_basic;

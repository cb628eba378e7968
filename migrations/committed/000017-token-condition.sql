--! Previous: sha1:c46e6818dd86cc9a9cb5ac97188d65caa78f9f89
--! Hash: sha1:d3be113ba187a2f199df9979f250d655ec19e6b8
--! Message: token condition

-- What a statement relies on, its token proves in the same transaction: the claims in force are compared with those of the token, so
-- that the server may remember claims without being believed.

drop function if exists app_hidden.require_access_token(bytea);
drop view if exists oauth.live_access_tokens;

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

create or replace function oauth.verify_access_token(token_hash bytea)
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

create function app_hidden.require_access_token(token_hash bytea) returns void
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  as $$
  declare
    is_own boolean;
  begin
    -- Runs as graph_helper because nobody who holds a token may look at tokens. Compared with what was found: as conditions of the
    -- search, which the planner would weigh, these cost as much again.
    select t.organization_id::text = current_setting('graph.organization_id', true)
      and t.application_id::text = current_setting('graph.application_id', true)
      and coalesce(t.user_id::text, '') = current_setting('graph.user_id', true)
      and t.grant_id::text = current_setting('graph.grant_id', true)
      and array_to_string(t.scopes, ' ') = current_setting('graph.scope', true)
      into is_own
      from oauth.live_access_tokens t
      where t.token_hash = require_access_token.token_hash;
    if is_own is not true then
      raise exception 'the access token has ended, or its claims are not those in force' using errcode = 'TOKEN';
    end if;
  end
  $$;
comment on function app_hidden.require_access_token(bytea) is
  'Fails with SQLSTATE TOKEN unless this is a live access token and the claims of this transaction are its own.';
grant create on schema app_hidden to graph_helper;
alter function app_hidden.require_access_token(bytea) owner to graph_helper;
revoke create on schema app_hidden from graph_helper;
grant execute on function app_hidden.require_access_token(bytea) to graph_app, graph_user, graph_basic;

insert into audit.accepted (kind, object, who, reason) values
  ('definer', 'app_hidden.require_access_token(bytea)', 'graph_app, graph_basic, graph_user', 'Who presents a token proves it; nobody who holds one may look at tokens.')
on conflict on constraint accepted_pkey do update set reason = excluded.reason;

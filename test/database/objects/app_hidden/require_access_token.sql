CREATE OR REPLACE FUNCTION app_hidden.require_access_token(token_hash bytea)
 RETURNS void
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
alter function app_hidden.require_access_token(bytea) owner to graph_helper;
comment on function app_hidden.require_access_token(bytea) is 'Fails with SQLSTATE TOKEN unless this is a live access token and the claims of this transaction are its own, and with MOVED unless its organization is served here.';
grant execute on function app_hidden.require_access_token(bytea) to graph_app;
grant execute on function app_hidden.require_access_token(bytea) to graph_basic;
grant execute on function app_hidden.require_access_token(bytea) to graph_user;

CREATE OR REPLACE FUNCTION oauth.verify_access_token(token_hash bytea)
 RETURNS TABLE(organization_id uuid, application_id uuid, client_id text, user_id uuid, grant_id uuid, scopes text[], created_at timestamp with time zone, expires_at timestamp with time zone)
 LANGUAGE plpgsql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    -- Runs as graph_helper because the organization, which every policy asks for, is what this finds out.
    return query
      select t.organization_id, t.application_id, t.client_id, t.user_id, t.grant_id, t.scopes, t.created_at, t.expires_at
      from oauth.live_access_tokens t
      where t.token_hash = verify_access_token.token_hash;
  end
  $function$;
alter function oauth.verify_access_token(bytea) owner to graph_helper;
comment on function oauth.verify_access_token(bytea) is 'The claims of a live access token: not expired, not revoked, its application and person enabled.';
grant execute on function oauth.verify_access_token(bytea) to graph_oauth;

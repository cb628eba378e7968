CREATE OR REPLACE FUNCTION oauth.find_application(client_id text)
 RETURNS TABLE(organization_id uuid, id uuid, name text, confidential boolean, scopes text[], redirect_uris text[], mobile_app_authentication_type text, secret_hashes bytea[])
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
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
  $function$;
alter function oauth.find_application(text) owner to graph_helper;
comment on function oauth.find_application(text) is 'The enabled application with this client id, and the SHA-256 of its valid secrets, newest first.';
grant execute on function oauth.find_application(text) to graph_oauth;

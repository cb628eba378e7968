CREATE OR REPLACE FUNCTION app_hidden.require_service(organization_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    if not app_hidden.is_served(require_service.organization_id) then
      raise exception 'the organization is being moved to another database, or has moved there' using errcode = 'MOVED';
    end if;
  end
  $function$;
comment on function app_hidden.require_service(uuid) is 'Fails with SQLSTATE MOVED unless app_hidden.is_served.';
grant execute on function app_hidden.require_service(uuid) to graph_admin;
grant execute on function app_hidden.require_service(uuid) to graph_helper;
grant execute on function app_hidden.require_service(uuid) to graph_oauth;
grant execute on function app_hidden.require_service(uuid) to graph_worker;

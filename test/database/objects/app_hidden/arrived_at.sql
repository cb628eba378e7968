CREATE OR REPLACE FUNCTION app_hidden.arrived_at()
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
AS $function$
  begin
    -- Runs as graph_helper because nobody who reads a feed may look at moves; it tells of the own organization alone.
    return (select m.arrived_at from app_hidden.organization_moves m where m.organization_id = app_hidden.current_organization_id());
  end
  $function$;
alter function app_hidden.arrived_at() owner to graph_helper;
comment on function app_hidden.arrived_at() is 'When the organization of the claims came from another database; null if it did not.';
grant execute on function app_hidden.arrived_at() to graph_admin;
grant execute on function app_hidden.arrived_at() to graph_app;
grant execute on function app_hidden.arrived_at() to graph_worker;

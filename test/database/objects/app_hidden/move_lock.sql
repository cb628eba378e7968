CREATE OR REPLACE FUNCTION app_hidden.move_lock(organization_id uuid)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select hashtextextended('app_hidden.organization_moves ' || organization_id, 0) $function$;
comment on function app_hidden.move_lock(uuid) is 'The advisory lock by which a cut-over fences off the transactions of an organization.';
grant execute on function app_hidden.move_lock(uuid) to graph_admin;
grant execute on function app_hidden.move_lock(uuid) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.moving_organization_ids()
 RETURNS uuid[]
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select array(select m.organization_id from app_hidden.organization_moves m where m.state <> 'arrived') $function$;
comment on function app_hidden.moving_organization_ids() is 'The organizations that are being moved, or have moved, of which nothing is purged here.';
grant execute on function app_hidden.moving_organization_ids() to graph_purger;

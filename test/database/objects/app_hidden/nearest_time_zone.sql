CREATE OR REPLACE FUNCTION app_hidden.nearest_time_zone(name text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select nearest from app_hidden.nearest_time_zones(array[nearest_time_zone.name]) $function$;
comment on function app_hidden.nearest_time_zone(text) is 'The time zone whose spelling is nearest; null when none has anything in common with it.';
grant execute on function app_hidden.nearest_time_zone(text) to graph_admin;
grant execute on function app_hidden.nearest_time_zone(text) to graph_app;

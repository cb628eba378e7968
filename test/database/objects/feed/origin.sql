CREATE OR REPLACE FUNCTION feed.origin()
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select hashint8extended(system_identifier, 'feed.changes'::regclass::oid::bigint) from pg_control_system() $function$;
comment on function feed.origin() is 'Tells this cluster and this table from those that they were restored from. Does not change while a session lasts.';
grant execute on function feed.origin() to graph_admin;
grant execute on function feed.origin() to graph_app;
grant execute on function feed.origin() to graph_helper;
grant execute on function feed.origin() to graph_worker;

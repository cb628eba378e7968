CREATE OR REPLACE FUNCTION feed.retention()
 RETURNS interval
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select interval '30 days' $function$;
comment on function feed.retention() is 'How long changes can be followed. A migration that replaces it changes that.';
grant execute on function feed.retention() to graph_admin;
grant execute on function feed.retention() to graph_app;
grant execute on function feed.retention() to graph_helper;
grant execute on function feed.retention() to graph_purger;
grant execute on function feed.retention() to graph_worker;

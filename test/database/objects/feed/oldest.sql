CREATE OR REPLACE FUNCTION feed.oldest()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ select date_trunc('day', statement_timestamp() - feed.retention(), 'UTC') $function$;
comment on function feed.oldest() is 'The time of the oldest change that can be followed: days are dropped as a whole.';
grant execute on function feed.oldest() to graph_admin;
grant execute on function feed.oldest() to graph_app;
grant execute on function feed.oldest() to graph_helper;
grant execute on function feed.oldest() to graph_worker;

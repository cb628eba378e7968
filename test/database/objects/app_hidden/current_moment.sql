CREATE OR REPLACE FUNCTION app_hidden.current_moment()
 RETURNS timestamp with time zone
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return statement_timestamp(); end $function$;
comment on function app_hidden.current_moment() is 'The time that access is asked for: now. audit.rebuild puts another one in its place.';
grant execute on function app_hidden.current_moment() to graph_admin;
grant execute on function app_hidden.current_moment() to graph_app;
grant execute on function app_hidden.current_moment() to graph_basic;
grant execute on function app_hidden.current_moment() to graph_user;

CREATE OR REPLACE FUNCTION app_hidden.current_application_id()
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return nullif(current_setting('graph.application_id', true), ''); end $function$;
comment on function app_hidden.current_application_id() is 'The application that the token was issued to; null without one.';
grant execute on function app_hidden.current_application_id() to graph_admin;
grant execute on function app_hidden.current_application_id() to graph_app;
grant execute on function app_hidden.current_application_id() to graph_basic;
grant execute on function app_hidden.current_application_id() to graph_helper;
grant execute on function app_hidden.current_application_id() to graph_oauth;
grant execute on function app_hidden.current_application_id() to graph_user;

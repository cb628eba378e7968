CREATE OR REPLACE FUNCTION app_hidden.current_user_id()
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return nullif(current_setting('graph.user_id', true), ''); end $function$;
comment on function app_hidden.current_user_id() is 'The person that the token was issued for; null for an application''s own token.';
grant execute on function app_hidden.current_user_id() to graph_admin;
grant execute on function app_hidden.current_user_id() to graph_app;
grant execute on function app_hidden.current_user_id() to graph_basic;
grant execute on function app_hidden.current_user_id() to graph_helper;
grant execute on function app_hidden.current_user_id() to graph_oauth;
grant execute on function app_hidden.current_user_id() to graph_user;

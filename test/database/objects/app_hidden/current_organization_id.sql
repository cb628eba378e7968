CREATE OR REPLACE FUNCTION app_hidden.current_organization_id()
 RETURNS uuid
 LANGUAGE plpgsql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return nullif(current_setting('graph.organization_id', true), ''); end $function$;
comment on function app_hidden.current_organization_id() is 'The organization of the token that this transaction serves; null without one.';
grant execute on function app_hidden.current_organization_id() to graph_admin;
grant execute on function app_hidden.current_organization_id() to graph_app;
grant execute on function app_hidden.current_organization_id() to graph_basic;
grant execute on function app_hidden.current_organization_id() to graph_helper;
grant execute on function app_hidden.current_organization_id() to graph_oauth;
grant execute on function app_hidden.current_organization_id() to graph_user;
grant execute on function app_hidden.current_organization_id() to graph_worker;

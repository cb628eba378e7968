CREATE OR REPLACE FUNCTION app_hidden.lowercase(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return lower(value collate app_hidden.unicode); end $function$;
comment on function app_hidden.lowercase(text) is 'The text in lower case, by which texts that differ in case alone are the same; for generated columns, too.';
grant execute on function app_hidden.lowercase(text) to graph_admin;
grant execute on function app_hidden.lowercase(text) to graph_app;
grant execute on function app_hidden.lowercase(text) to graph_basic;
grant execute on function app_hidden.lowercase(text) to graph_helper;
grant execute on function app_hidden.lowercase(text) to graph_oauth;
grant execute on function app_hidden.lowercase(text) to graph_user;

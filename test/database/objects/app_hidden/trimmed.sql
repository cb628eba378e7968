CREATE OR REPLACE FUNCTION app_hidden.trimmed(value text)
 RETURNS text
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$ begin return btrim(value, app_hidden.white_space()); end $function$;
comment on function app_hidden.trimmed(text) is 'The text without the white space around it (the characters that String.prototype.trim removes, and U+0085).';
grant execute on function app_hidden.trimmed(text) to graph_admin;
grant execute on function app_hidden.trimmed(text) to graph_app;
grant execute on function app_hidden.trimmed(text) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.is_text(value text)
 RETURNS boolean
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return char_length(value) between 1 and 200
      and value collate "C" !~ e'[\u0001-\u001f\u007f-\u009f]'
      and value collate "C" = app_hidden.trimmed(value);
  end
  $function$;
comment on function app_hidden.is_text(text) is 'Whether a text is trimmed, not empty, at most 200 characters long and free of control characters.';
grant execute on function app_hidden.is_text(text) to graph_admin;
grant execute on function app_hidden.is_text(text) to graph_app;
grant execute on function app_hidden.is_text(text) to graph_helper;

CREATE OR REPLACE FUNCTION app_hidden.row_values(value record)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
  declare
    column_name text;
    column_value json;
    result jsonb = '{}';
  begin
    return to_jsonb(value);
  exception when data_exception or program_limit_exceeded then
    for column_name, column_value in
      select key, e.value from json_each(regexp_replace(to_json(row_values.value)::text, '(?<!\\)((?:\\\\)*)\\u', '\1\\\\u', 'g')::json) as e
    loop
      begin
        result = result || jsonb_build_object(column_name, column_value::jsonb);
      exception when data_exception or program_limit_exceeded then
        result = result || jsonb_build_object(column_name, column_value::text);
      end;
    end loop;
    return result;
  end
  $function$;
comment on function app_hidden.row_values(record) is 'A row as to_jsonb has it; what jsonb cannot hold is text.';
grant execute on function app_hidden.row_values(record) to graph_admin;
grant execute on function app_hidden.row_values(record) to graph_app;
grant execute on function app_hidden.row_values(record) to graph_helper;
grant execute on function app_hidden.row_values(record) to graph_oauth;
grant execute on function app_hidden.row_values(record) to graph_user;
grant execute on function app_hidden.row_values(record) to graph_worker;

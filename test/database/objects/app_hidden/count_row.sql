CREATE OR REPLACE FUNCTION app_hidden.count_row()
 RETURNS integer
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    rows int = coalesce(nullif(current_setting('graph.rows', true), ''), '0')::int + 1;
  begin
    if rows > nullif(current_setting('graph.row_limit', true), '')::int then
      raise program_limit_exceeded using message = 'The operation found too many rows';
    end if;
    perform set_config('graph.rows', rows::text, true);
    return rows;
  end
  $function$;
comment on function app_hidden.count_row() is 'Counts the rows of a transaction; program_limit_exceeded beyond the setting graph.row_limit.';
grant execute on function app_hidden.count_row() to graph_app;
grant execute on function app_hidden.count_row() to graph_basic;
grant execute on function app_hidden.count_row() to graph_user;

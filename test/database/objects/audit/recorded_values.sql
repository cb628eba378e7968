CREATE OR REPLACE FUNCTION audit.recorded_values(value record)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return (
      select jsonb_object_agg(e.key, e.value) from jsonb_each(app_hidden.row_values(recorded_values.value)) as e where e.value <> 'null');
  end
  $function$;
comment on function audit.recorded_values(record) is 'A row as the history keeps it: without what is null.';
grant execute on function audit.recorded_values(record) to graph_helper;

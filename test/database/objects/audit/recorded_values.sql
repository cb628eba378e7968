CREATE OR REPLACE FUNCTION audit.recorded_values(value record, relation oid)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return (
      select jsonb_object_agg(e.key, e.value)
      from jsonb_each(app_hidden.row_values(recorded_values.value)) as e
      where e.value <> 'null'
        and e.key <> all (array(select a.attname::text from pg_attribute a where a.attrelid = relation and a.attnum > 0 and a.attgenerated <> '')));
  end
  $function$;
comment on function audit.recorded_values(record,oid) is 'What the history keeps of a row: neither what is null nor what is generated.';
grant execute on function audit.recorded_values(record,oid) to graph_helper;

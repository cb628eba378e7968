CREATE OR REPLACE FUNCTION audit.find_row(relation regclass, key text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    columns text[] = array(
      select a.attname
      from pg_index i
      join unnest(i.indkey) with ordinality as k (number, position) on true
      join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
      where i.indrelid = relation and i.indisprimary and a.attname <> 'organization_id'
      order by k.position);
    given jsonb;
    found jsonb[];
  begin
    if key ^@ '{' then
      given = key;
    elsif cardinality(columns) = 1 then
      given = jsonb_build_object(columns[1], key);
    else
      raise exception using
        errcode = 'invalid_parameter_value',
        message = format('%s has no key of one column', relation),
        hint = format('Give the key as JSON: {"%s": "…"}', array_to_string(columns, '": "…", "'));
    end if;
    execute format('select array(select to_jsonb(t) from %s t where %s limit 2)', relation,
      (select string_agg(format('%I = %L', name, value), ' and ') from jsonb_each_text(given) as given (name, value)))
      into found;
    if cardinality(found) <> 1 then
      raise exception using
        errcode = case when found = '{}' then 'no_data_found' else 'too_many_rows' end,
        message = format(case when found = '{}' then '%s has no row %s' else '%s has more than one row %s' end, relation, key),
        hint = format('The key may be JSON: {"organization_id": "…", "%s": "…"}', array_to_string(columns, '": "…", "'));
    end if;
    return found[1];
  end
  $function$;
comment on function audit.find_row(regclass,text) is 'The row with this key: the value of its one column beside organization_id, or columns and values as JSON.';
grant execute on function audit.find_row(regclass,text) to graph_admin;

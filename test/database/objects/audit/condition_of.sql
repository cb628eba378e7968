CREATE OR REPLACE FUNCTION audit.condition_of(relation regclass, value jsonb)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
AS $function$
    select string_agg(format('%I = %L', a.attname, value ->> a.attname), ' and ')
    from pg_index i
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
    where i.indrelid = relation and i.indisprimary
  $function$;
comment on function audit.condition_of(regclass,jsonb) is 'What finds this row by its primary key.';
grant execute on function audit.condition_of(regclass,jsonb) to graph_admin;

CREATE OR REPLACE FUNCTION app_hidden.broken_checks(rows anyarray)
 RETURNS oid[]
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    checks text = (
      select string_agg(format('when not (%s) then %s::oid', pg_get_expr(k.conbin, k.conrelid), k.oid), ' ' order by k.conname)
      from pg_constraint k
      join pg_type t on t.typrelid = k.conrelid
      join pg_type list on list.typelem = t.oid
      where list.oid = pg_typeof(rows) and k.contype = 'c');
    broken oid[];
  begin
    execute format('select array_agg(case %s end order by place) from unnest($1) with ordinality as r (%s, place)', checks,
        (select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
         from pg_attribute a
         join pg_type t on t.typrelid = a.attrelid
         join pg_type list on list.typelem = t.oid
         where list.oid = pg_typeof(rows) and a.attnum > 0 and not a.attisdropped))
      into broken using rows;
    return broken;
  end
  $function$;
comment on function app_hidden.broken_checks(anyarray) is 'For each row of a table the check constraint that writing it would break; of several the first by name, as PostgreSQL has it.';
grant execute on function app_hidden.broken_checks(anyarray) to graph_admin;
grant execute on function app_hidden.broken_checks(anyarray) to graph_app;

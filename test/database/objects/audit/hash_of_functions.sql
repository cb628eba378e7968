CREATE OR REPLACE FUNCTION audit.hash_of_functions(functions oid[])
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET quote_all_identifiers TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  with recursive called (oid) as (
    select unnest(functions)
    union
    select inner_call
    from called
    join pg_proc caller using (oid)
    -- Pinned is what has no other schema in its search path, and names no path: functions are not looked for among temporary objects.
    cross join audit.called_in(
      concat_ws(chr(10), caller.prosrc, pg_get_function_sqlbody(caller.oid)),
      caller.prosrc !~* 'search_path|\mset\s+((local|session)\s+)?schema\M|\mreset\M' and exists (
        select from unnest(caller.proconfig) as setting where setting ~ '^search_path=(pg_catalog(, pg_temp)?|"")?$')) as inner_call
  ),
  hashed (own) as (
    select left(encode(sha256(convert_to(concat_ws(chr(10),
      p.prosrc, pg_get_function_sqlbody(p.oid), l.lanname, p.proconfig, p.prosecdef, pg_get_userbyid(p.proowner)), 'UTF8')), 'hex'), 16)
    from called join pg_proc p using (oid) join pg_language l on l.oid = p.prolang
  )
  select case count(*) when 0 then null when 1 then max(own)
    else left(encode(sha256(convert_to(string_agg(own, ' ' order by own collate "C"), 'UTF8')), 'hex'), 16) end
  from hashed
  $function$;
comment on function audit.hash_of_functions(oid[]) is 'A hash of what functions do, and with whose rights; null of none.';
grant execute on function audit.hash_of_functions(oid[]) to graph_admin;

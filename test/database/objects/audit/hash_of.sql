CREATE OR REPLACE FUNCTION audit.hash_of(object text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  select left(encode(sha256(convert_to(concat_ws(chr(10),
    p.prosrc, pg_get_function_sqlbody(p.oid), l.lanname, p.proconfig, p.prosecdef, pg_get_userbyid(p.proowner)), 'UTF8')), 'hex'), 16)
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  join pg_language l on l.oid = p.prolang
  -- The 3,300 functions of PostgreSQL itself take most of the time, and cannot be accepted.
  where n.nspname not in ('pg_catalog', 'information_schema')
    and (
      format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) = regexp_replace(object, '^.*: (call|trigger) on ', '')
      or p.oid in (
        select t.tgfoid from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace tn on tn.oid = c.relnamespace
        where object ~ ': trigger on ' and regexp_replace(object, '^.*: trigger on ', '') = format('%s on %I.%I', t.tgname, tn.nspname, c.relname))
    )
$function$;
comment on function audit.hash_of(text) is 'A hash of what a function does, and with whose rights; null of anything else.';
grant execute on function audit.hash_of(text) to graph_admin;

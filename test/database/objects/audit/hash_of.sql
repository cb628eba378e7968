CREATE OR REPLACE FUNCTION audit.hash_of(object text)
 RETURNS text
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  with recursive called (oid) as (
    select p.oid
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    -- The 3,300 functions of PostgreSQL itself take most of the time, and cannot be accepted.
    where n.nspname not in ('pg_catalog', 'information_schema')
      and (
        format('%I.%I(%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes)) = regexp_replace(object, '^.*: (call|trigger) on ', '')
        or p.oid in (
          select t.tgfoid from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace tn on tn.oid = c.relnamespace
          where object ~ ': trigger on ' and regexp_replace(object, '^.*: trigger on ', '') = format('%s on %I.%I', t.tgname, tn.nspname, c.relname))
      )
    union
    select p.oid
    from called
    join pg_proc caller using (oid)
    cross join regexp_matches(concat_ws(chr(10), caller.prosrc, pg_get_function_sqlbody(caller.oid)),
      '(?:("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\.\s*)?("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\(', 'g') as found (parts)
    join pg_proc p on p.proname = case when parts[2] like '"%' then replace(substr(parts[2], 2, length(parts[2]) - 2), '""', '"') else lower(parts[2]) end
    join pg_namespace n on n.oid = p.pronamespace
    where n.nspname not in ('pg_catalog', 'information_schema')
      and (parts[1] is null
        or n.nspname = case when parts[1] like '"%' then replace(substr(parts[1], 2, length(parts[1]) - 2), '""', '"') else lower(parts[1]) end)
  ),
  hashed (oid, own) as (
    select p.oid, left(encode(sha256(convert_to(concat_ws(chr(10),
      p.prosrc, pg_get_function_sqlbody(p.oid), l.lanname, p.proconfig, p.prosecdef, pg_get_userbyid(p.proowner)), 'UTF8')), 'hex'), 16)
    from called join pg_proc p using (oid) join pg_language l on l.oid = p.prolang
  )
  select case count(*) when 0 then null when 1 then max(own)
    else left(encode(sha256(convert_to(string_agg(own, ' ' order by own collate "C"), 'UTF8')), 'hex'), 16) end
  from hashed
$function$;
comment on function audit.hash_of(text) is 'A hash of what a function does, and with whose rights; null of anything else.';
grant execute on function audit.hash_of(text) to graph_admin;

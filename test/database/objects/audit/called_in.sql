CREATE OR REPLACE FUNCTION audit.called_in(text, is_pinned boolean)
 RETURNS SETOF oid
 LANGUAGE sql
 STABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
  select p.oid
  from regexp_matches($1,
    '(?:("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\.\s*)?("(?:[^"]|"")+"|[[:alpha:]_][\w$]*)\s*\(', 'g') as found (parts)
  join pg_proc p on p.proname = case when parts[2] like '"%' then replace(substr(parts[2], 2, length(parts[2]) - 2), '""', '"') else lower(parts[2]) end
  join pg_namespace n on n.oid = p.pronamespace
  -- The 3,300 functions of PostgreSQL itself take most of the time, and cannot be accepted.
  where n.nspname not in ('pg_catalog', 'information_schema')
    and case when parts[1] is null then not is_pinned
      else n.nspname = case when parts[1] like '"%' then replace(substr(parts[1], 2, length(parts[1]) - 2), '""', '"') else lower(parts[1]) end
    end
  $function$;
comment on function audit.called_in(text,boolean) is 'The functions of the database that a text calls: a call is a name before a parenthesis. A pinned text needs a schema to name one.';
grant execute on function audit.called_in(text,boolean) to graph_admin;

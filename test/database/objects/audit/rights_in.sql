CREATE OR REPLACE FUNCTION audit.rights_in(statement text)
 RETURNS TABLE(command text, object text, part text)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
AS $function$
    with plain as materialized (
      select lower(replace(statement, '"', '')) as text
    ),
    names as materialized (
      select distinct string_to_array(m[1], '.') as parts
      from plain, regexp_matches(text, '([[:alpha:]_][[:alnum:]_$]*(?:\.[[:alpha:]_][[:alnum:]_$]*)*)', 'g') as m
    ),
    words as materialized (
      select distinct unnest(parts) as word from names
    ),
    qualified as materialized (
      select distinct parts[i] as schema, parts[i + 1] as name from names, generate_series(1, cardinality(parts) - 1) as i
    ),
    relations as materialized (
      select c.oid, format('%I.%I', n.nspname, c.relname) as name, lower(n.nspname || '.' || c.relname) as plain_name
      from qualified q join pg_namespace n on lower(n.nspname) = q.schema join pg_class c on c.relnamespace = n.oid and lower(c.relname) = q.name
      where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_'
    ),
    -- Rows that are named whole: by a star, or as PostGraphile passes one to a function.
    rows as materialized (
      select text ~ '\.\*|,\s*\*|\m(select|distinct|all|returning)\s+\*|[(,]\s*__\w+__\s*[,)]' as is_whole from plain
    ),
    commands as (
      select 'select' as command, oid, name from relations
      union
      select written.command, r.oid, r.name
      from relations r, plain,
        (values ('insert', 'insert\s+into\s+'), ('insert', 'merge\s+into\s+'), ('update', 'update\s+(?:only\s+)?'), ('update', 'merge\s+into\s+'),
          ('delete', 'delete\s+from\s+(?:only\s+)?'), ('delete', 'merge\s+into\s+')) as written (command, pattern)
      where text ~ (written.pattern || replace(r.plain_name, '.', '\.') || '\M')
      union
      -- Rows that are locked, and what is changed instead of inserted.
      select 'update', r.oid, r.name from relations r, plain where text ~ '\mfor\s+(no\s+key\s+)?(update|share|key\s+share)\M|\mdo\s+update\M'
    )
    select c.command, c.name, '' from commands c
    union all
    select c.command, c.name, a.attname
    from commands c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where lower(a.attname) in (select word from words) or (select is_whole from rows)
    union
    select 'execute', format('%I.%I', n.nspname, p.proname), ''
    from qualified q join pg_namespace n on lower(n.nspname) = q.schema join pg_proc p on p.pronamespace = n.oid and lower(p.proname) = q.name
    where n.nspname !~ '^(pg_|information_schema$)'
  $function$;
comment on function audit.rights_in(text) is 'The rights that a statement may need, by the names in its text: of tables and functions with their schemas, of columns of these tables wherever their name stands.';
grant execute on function audit.rights_in(text) to graph_admin;
grant execute on function audit.rights_in(text) to graph_helper;

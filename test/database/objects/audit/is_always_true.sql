CREATE OR REPLACE FUNCTION audit.is_always_true(expression text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
    with recursive outlines (outline) as (
      select regexp_replace(regexp_replace(expression, '''[^'']*''', '0', 'g'), '^\((.*)\)$', '\1')
      union
      select regexp_replace(outline, '\([^()]*\)', '0', 'g') from outlines
    )
    select expression = 'true'
      or bool_or(outline !~ '[()]' and outline !~ ' AND ' and outline ~ '(^| OR )true($| OR )')
      -- Neither a column nor a function: what a constant says does not depend on who asks.
      or expression <> 'false' and regexp_replace(expression, '''[^'']*''(?:::[a-z ]+)?|\m(?:true|false|NULL|NOT|AND|OR|IS)\M', '', 'g') !~ '[A-Za-z_]'
    from outlines
  $function$;
comment on function audit.is_always_true(text) is 'Whether an expression depends on neither the row nor a claim: `true`, `… or true`, or a constant.';
grant execute on function audit.is_always_true(text) to graph_admin;
grant execute on function audit.is_always_true(text) to graph_auditor;

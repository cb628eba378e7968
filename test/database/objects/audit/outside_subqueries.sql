CREATE OR REPLACE FUNCTION audit.outside_subqueries(expression text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
    select regexp_replace(expression, format('\( SELECT (?:(?!FROM )%s)*\)', part), '( SELECT )', 'g')
    from (
      select format('(?:[^()]|\(%s*\))', format('(?:[^()]|\(%s*\))', '(?:[^()]|\([^()]*\))')) as part
    ) as nested
  $function$;
comment on function audit.outside_subqueries(text) is 'An expression, as pg_get_expr writes it, without its subqueries that read no table; they may nest parentheses four deep.';
grant execute on function audit.outside_subqueries(text) to graph_admin;
grant execute on function audit.outside_subqueries(text) to graph_auditor;

CREATE OR REPLACE FUNCTION audit.compares_organization(expression text)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE STRICT
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
AS $function$
    with recursive parts (part) as (
      values (expression)
      union
      select audit.conjuncts(parts.part) from parts
    ),
    claim (pattern) as (
      values ('(?:app_hidden\.current_organization_id\(\)|\(NULLIF\(current_setting\(''graph\.organization_id''::text, true\), ''''::text\)\)::uuid)')
    )
    select bool_or(part = 'false' or part ~ format('^\((?:organization_id = %1$s|%1$s = organization_id)\)$', format('(?:%1$s|\( SELECT %1$s AS [\w"]+\))', pattern)))
    from parts, claim
  $function$;
comment on function audit.compares_organization(text) is 'Whether an expression holds for rows of the organization of the claim only: `organization_id = (select app_hidden.current_organization_id())`, or the setting itself, is a part that must hold.';
grant execute on function audit.compares_organization(text) to graph_admin;
grant execute on function audit.compares_organization(text) to graph_auditor;

CREATE OR REPLACE FUNCTION audit.parts_without_organization(policy oid)
 RETURNS text
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET quote_all_identifiers TO 'off'
AS $function$
    select string_agg(part, ' and ' order by part)
    from pg_policy p
    cross join lateral (
      values
        ('using', pg_get_expr(p.polqual, p.polrelid), p.polcmd <> 'a'),
        ('with check', pg_get_expr(coalesce(p.polwithcheck, p.polqual), p.polrelid), p.polcmd in ('a', 'w', '*'))
    ) as parts (part, expression, applies)
    -- Without an expression no row passes.
    where p.oid = policy and applies and not audit.compares_organization(expression)
  $function$;
comment on function audit.parts_without_organization(oid) is 'Which parts of a policy do not compare organization_id with the claim; null when both do.';
grant execute on function audit.parts_without_organization(oid) to graph_admin;
grant execute on function audit.parts_without_organization(oid) to graph_auditor;

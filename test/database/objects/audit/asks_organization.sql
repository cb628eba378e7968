CREATE OR REPLACE FUNCTION audit.asks_organization(relation regclass, role text)
 RETURNS boolean
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET quote_all_identifiers TO 'off'
 SET standard_conforming_strings TO 'on'
AS $function$
  begin
    return (
      select c.relrowsecurity and not (r.rolsuper or r.rolbypassrls)
        and audit.is_as_shipped(
          'current_organization_id', ' begin return nullif(current_setting(''graph.organization_id'', true), ''''); end ')
        and (
          coalesce(bool_or(p.compares) filter (where not p.permissive), false)
          or coalesce(bool_and(p.compares) filter (where p.permissive), true))
      from pg_class c
      join pg_roles r on r.rolname = role and has_any_column_privilege(r.oid, c.oid, 'select')
      left join lateral (
        select
          p.permissive,
          coalesce(audit.compares_organization(case p.relation
            when 'app_hidden.organizations'::regclass then regexp_replace(p.using_expression, '^\(id = ', '(organization_id = ')
            else p.using_expression
          end), false) as compares
        from audit.policies p
        where p.relation = c.oid and p.command in ('select', 'all')
          and exists (select from unnest(p.role_ids) as named where named = 0 or pg_has_role(r.oid, nullif(named, 0), 'usage'))
      ) as p on true
      where c.oid = asks_organization.relation
      group by c.relrowsecurity, r.rolsuper, r.rolbypassrls);
  end
  $function$;
comment on function audit.asks_organization(regclass,text) is 'Whether the policies let a role see rows of the organization of the claim alone, as audit.compares_organization knows it. Null when the role may not read.';
grant execute on function audit.asks_organization(regclass,text) to graph_admin;

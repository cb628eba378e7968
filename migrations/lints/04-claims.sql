-- What a policy leaves open between organizations, and what lets a request pass for another.
-- Expressions are compared as pg_get_expr writes them, without the blanks, case and redundant parentheses of the migration.

create or replace function audit.is_always_true(expression text) returns boolean
  language sql immutable strict set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  as $$
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
  $$;
comment on function audit.is_always_true(text) is 'Whether an expression depends on neither the row nor a claim: `true`, `… or true`, or a constant.';

create or replace function audit.parts_without_organization(policy oid) returns text
  language sql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on set quote_all_identifiers = off
  as $$
    select string_agg(part, ' and ' order by part)
    from pg_policy p
    cross join lateral (
      values
        ('using', pg_get_expr(p.polqual, p.polrelid), p.polcmd <> 'a'),
        ('with check', pg_get_expr(coalesce(p.polwithcheck, p.polqual), p.polrelid), p.polcmd in ('a', 'w', '*'))
    ) as parts (part, expression, applies)
    -- Without an expression no row passes.
    where p.oid = policy and applies and not audit.compares_organization(expression)
  $$;
comment on function audit.parts_without_organization(oid) is 'Which parts of a policy do not compare organization_id with the claim; null when both do.';

create or replace view audit.claim_lints with (security_invoker = true) as
  with schemas as (
    select oid, nspname from pg_namespace where nspname !~ '^(pg_|information_schema$|graphile_)'
  ),
  policies as (
    select
      p.oid, p.polrelid, p.polpermissive, p.polcmd, p.polroles, format('%s on %s', p.polname, p.polrelid::regclass) as object,
      pg_get_expr(p.polqual, p.polrelid) as using_expression, pg_get_expr(p.polwithcheck, p.polrelid) as check_expression,
      exists (
        select from audit.request_roles r, unnest(p.polroles) as named
        where r.kind <> 'worker' and (named = 0 or pg_has_role(r.role_id, nullif(named, 0), 'member')
          and not exists (select from audit.lent_roles l where l.borrower_id = r.role_id and l.lender_id = named))
      ) as of_requests,
      exists (select from pg_attribute a where a.attrelid = p.polrelid and a.attname = 'organization_id' and not a.attisdropped) as of_organizations
    from pg_policy p
  ),
  -- What a function says is as it was written; the others are as PostgreSQL writes them.
  texts (is_source, object, text) as (
    select true, p.oid::regprocedure::text, coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)
    from pg_proc p
    where p.pronamespace in (select oid from schemas)
      and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
    union all
    select false, object, concat_ws(' ', using_expression, check_expression) from policies
    union all
    select false, c.oid::regclass::text, pg_get_viewdef(c.oid) from pg_class c where c.relkind in ('v', 'm') and c.relnamespace in (select oid from schemas)
    union all
    select false, format('%s.%I', a.attrelid::regclass, a.attname), pg_get_expr(d.adbin, d.adrelid)
    from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum join pg_class c on c.oid = d.adrelid
    where c.relnamespace in (select oid from schemas)
    union all
    select false, format('%I on %s', k.conname, k.conrelid::regclass), pg_get_constraintdef(k.oid)
    from pg_constraint k where k.contype = 'c' and k.conrelid <> 0 and k.connamespace in (select oid from schemas)
    union all
    select false, format('%I on %s', t.tgname, t.tgrelid::regclass), pg_get_triggerdef(t.oid)
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and c.relnamespace in (select oid from schemas)
  ),
  lints (name, level, object, detail, remedy) as (
    select
      'policy_without_organization', 'error', p.object,
      format('lets a request pass from one organization to another: nothing in its %s compares organization_id with the claim', parts),
      'Begin it with organization_id = (select app_hidden.current_organization_id()) and …'
    from policies p
    cross join lateral audit.parts_without_organization(p.oid) as parts
    where p.of_requests and p.of_organizations and p.polpermissive and parts is not null
      -- A restrictive policy for the same roles may do it for them all.
      and not exists (
        select from policies r
        where r.polrelid = p.polrelid and not r.polpermissive and r.polcmd in ('*', p.polcmd)
          and (0 = any (r.polroles) or r.polroles @> p.polroles) and audit.parts_without_organization(r.oid) is null)
    union all
    select 'policy_always_true', 'error', object, 'holds for any row and any claim', 'Compare with a claim.'
    from policies
    where of_requests and polpermissive and (audit.is_always_true(using_expression) or audit.is_always_true(check_expression))
      -- That is a lint already.
      and not (polcmd <> 'r' and 'true' in (using_expression, check_expression))
    union all
    select 'claim_of_its_own', 'error', p.oid::regprocedure::text, 'does not return what its setting says, as policies believe',
      format('begin return nullif(current_setting(''graph.%s'', true), ''''); end', replace(p.proname, 'current_', ''))
    from pg_proc p
    where p.pronamespace = 'app_hidden'::regnamespace and p.proname in ('current_organization_id', 'current_application_id', 'current_user_id')
      and coalesce(pg_get_function_sqlbody(p.oid), p.prosrc) !~* format(
        '^\s*(?:begin\s+return|select)\s+nullif\(current_setting\(''graph\.%s'', true\), ''''\)(?:::uuid)?\s*;?\s*(?:end\s*;?\s*)?$', replace(p.proname, 'current_', ''))
    union all
    select distinct 'setting_changed', 'error', object, 'may set graph.…, which policies take for the claims of the token', 'Only the server sets it: take it away.'
    from texts
    where is_source and text ~* '\m(?:set\s+(?:(?:local|session)\s+)?"?graph"?\s*\.|set\s+(?:local|session)\s+(?:%|''\s*\|\|)|(?:reset|discard)\s+(?:all\M|"?graph"?\s*\.))|''\s*set\s+(?:%|''\s*\|\|)'
      -- Of another setting it is none, if that is named.
      or exists (
        select from regexp_matches(text, case when is_source then '\mset_config\M' else '\mset_config\(' end || '(?:"?\s*\(?\s*(''[^'']*'')(?:::text)?\s*,)?', 'gi') as call
        where coalesce(call[1], '''graph.') ~* '^''\s*graph\.')
    union all
    select 'setting_changed', 'error', p.oid::regprocedure::text, format('begins with %s', array_to_string(p.proconfig, ', ')), 'alter function … reset all'
    from pg_proc p
    where p.pronamespace in (select oid from schemas) and exists (select from unnest(p.proconfig) as setting where setting ~* '^graph\.')
    union all
    select
      'setting_changed', 'error', case setrole when 0 then format('database %I', current_database()) else pg_get_userbyid(setrole)::text end,
      format('begins each session with %s', array_to_string(setconfig, ', ')), 'alter role … reset all, or alter database … reset all'
    from pg_db_role_setting
    where setdatabase in (0, (select oid from pg_database where datname = current_database()))
      and exists (select from unnest(setconfig) as setting where setting ~* '^graph\.')
    union all
    select 'connect_for_everybody', 'warning', format('database %I', datname), 'lets every role of the cluster connect, such as the server of another database',
      'npm run db:migrate as the owner of the database, or revoke connect on database … from public'
    from pg_database, aclexplode(coalesce(datacl, acldefault('d', datdba))) acl
    where datname = current_database() and acl.grantee = 0 and acl.privilege_type = 'CONNECT'
  )
  select l.name, l.level, l.object, l.detail, l.remedy collate "default" as remedy
  from lints l
  where not exists (select from audit.accepted a where a.kind = l.name and a.object = l.object);
comment on view audit.claim_lints is 'What lets a request pass for another, or into another organization; empty when all is well.';

grant select on audit.claim_lints to graph_auditor, graph_admin;
grant execute on function audit.compares_organization(text), audit.is_always_true(text), audit.parts_without_organization(oid) to graph_auditor, graph_admin;

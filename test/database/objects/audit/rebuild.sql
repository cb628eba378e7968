CREATE OR REPLACE FUNCTION audit.rebuild(at timestamp with time zone, organization_id uuid)
 RETURNS void
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET standard_conforming_strings TO 'on'
 SET quote_all_identifiers TO 'off'
 SET "DateStyle" TO 'ISO, MDY'
 SET "IntervalStyle" TO 'postgres'
 SET "TimeZone" TO 'UTC'
 SET bytea_output TO 'hex'
 SET extra_float_digits TO '1'
AS $function$
  declare
    schemas name[] = array(select distinct n.nspname from audit.recorded r join pg_class c on c.oid = r.relation join pg_namespace n on n.oid = c.relnamespace);
    schema name;
    next record;
    statement text;
    -- All that has a name is written down before the names change.
    sources audit.recorded[] = array(select r from audit.recorded r where r.rebuildable);
    source audit.recorded;
    -- Tables without a history whose policies read other tables: their rows are the present ones, and the policies are to read copies.
    kept regclass[] = array(
      select distinct p.relation
      from audit.policies p
      join pg_policy on polrelid = p.relation and polname = p.policy
      join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = pg_policy.oid
        and d.refclassid = 'pg_class'::regclass and d.refobjid <> polrelid
      join pg_class c on c.oid = p.relation and not c.relispartition
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = any (schemas)
      where p.command in ('select', 'all') and p.roles && array(select 'public' union select q.role from audit.request_roles q)
        and p.relation <> 'app_hidden.unit_ancestors'::regclass and p.relation <> all (array(select s.relation from unnest(sources) as s)));
    -- Which unit is below which follows from the tree.
    tables regclass[] = array(select s.relation from unnest(sources) as s) || kept || 'app_hidden.unit_ancestors'::regclass;
    names text[] = array(
      select r.name from unnest(tables) with ordinality as t (relation, place) join audit.relations r using (relation) order by place);
    others text[] = array(
      select format(
        'create view %s with (security_invoker = true) as table %I.%I', r.name, n.nspname || '_now', c.relname)
      from audit.relations r
      join pg_class c on c.oid = r.relation
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any (schemas) and r.relation <> all (tables) and r.kind not in ('view', 'partition'));
    views text[] = array(
      select format('create view %s%s as %s', r.name, ' with (' || array_to_string(c.reloptions, ', ') || ')', pg_get_viewdef(c.oid))
      from audit.relations r
      join pg_class c on c.oid = r.relation
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any (schemas) and r.kind = 'view'
      order by c.oid);
    indexes text[] = array(
      select case
        when i.indisprimary then format('alter table %s add %s', names[array_position(tables, i.indrelid::regclass)], pg_get_constraintdef(c.oid))
        -- Moments of two transactions may be mixed, and so be no state that there was.
        else regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE UNIQUE', 'CREATE')
      end
      from pg_index i left join pg_constraint c on c.conindid = i.indexrelid and c.contype = 'p'
      where i.indrelid = any (tables)
        -- Policies look up rows by ids. An index of texts serves pages and clients' identifiers, and to sort it takes half the time of all.
        and (c.oid is not null or '0' = all (i.indcollation)));
    bound_functions text[] = array(
      select pg_get_functiondef(p.oid)
      from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = any (schemas) and p.prosqlbody is not null);
    rights text[] = array(
      select format('grant %s%s on %s to %s', m.command, case when m.columns <> '{}' then (select format(' (%s)', string_agg(quote_ident(c), ', ')) from unnest(m.columns) as c) end, r.name,
        case m.role when 'public' then m.role else quote_ident(m.role) end)
      from audit.matrix m join audit.relations r using (relation)
      join pg_class c on c.oid = r.relation
      join pg_namespace n on n.oid = c.relnamespace
      where m.granted and n.nspname = any (schemas) and r.kind <> 'partition');
    security text[] = array(
      select format('alter table %s %s row level security', r.name, step)
      from audit.relations r,
        unnest(case r.row_security when 'forced' then '{enable,force}' when 'off' then '{}' else '{enable}' end::text[]) as step
      where r.relation = any (tables));
    policies text[] = array(
      select format('create policy %1$I on %2$s as %3$s for %4$s to %5$s%6$s%7$s; comment on policy %1$I on %2$s is %8$L', p.policy, r.name, case when p.permissive then 'permissive' else 'restrictive' end, p.command,
        (select string_agg(case role when 'public' then role else quote_ident(role) end, ', ') from unnest(p.roles) as role),
        ' using (' || p.using_expression || ')', ' with check (' || p.check_expression || ')', p.rule)
      from audit.policies p join audit.relations r using (relation)
      where p.relation = any (tables));
    principals text = pg_get_viewdef('audit.principals'::regclass);
    usages text[] = array(
      select format('grant usage on schema %I to %s', n.nspname, case acl.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(acl.grantee)) end)
      from pg_namespace n, aclexplode(n.nspacl) acl
      where n.nspname = any (schemas) and acl.privilege_type = 'USAGE');
  begin
    if at < statement_timestamp() - audit.retention() then
      raise exception using
        errcode = 'invalid_parameter_value',
        message = format('The history of %s is not kept any more', at),
        hint = format('It goes back for %s.', audit.retention());
    end if;

    -- Where a policy does not compare the organization, it may read rows of others.
    if exists (
      select from unnest(tables) as relation, audit.request_roles q
      where q.kind <> 'worker' and not audit.asks_organization(relation, q.role))
    then
      organization_id = null;
    end if;

    perform pg_advisory_xact_lock(hashtextextended('audit.rebuild', 0));
    foreach schema in array schemas loop
      execute format('alter schema %I rename to %I', schema, schema || '_now');
      execute format('create schema %I', schema);
      for next in
        select t.oid::regtype as type from pg_type t left join pg_class c on c.oid = t.typrelid
        where t.typnamespace = to_regnamespace(quote_ident(schema || '_now')) and (t.typtype in ('d', 'e', 'r') or c.relkind = 'c')
      loop
        execute format('alter type %s set schema %I', next.type, schema);
      end loop;
      for next in select c.collname as name from pg_collation c where c.collnamespace = to_regnamespace(quote_ident(schema || '_now')) loop
        execute format('alter collation %I.%I set schema %I', schema || '_now', next.name, schema);
      end loop;
      for next in
        select p.oid::regprocedure as function from pg_proc p
        where p.pronamespace = to_regnamespace(quote_ident(schema || '_now')) and pg_has_role(p.proowner, 'usage')
          and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
      loop
        execute format('alter routine %s set schema %I', next.function, schema);
      end loop;
    end loop;

    for next in select * from unnest(tables, names) as t (relation, name) loop
      execute format('create table %s (like %s including generated)', next.name, next.relation);
      -- Secrets are not in the history.
      for statement in
        select format('alter table %s alter column %I drop not null', next.name, a.attname)
        from pg_attribute a where a.attrelid = next.relation and a.attnum > 0 and a.attnotnull
      loop
        execute statement;
      end loop;
    end loop;
    foreach statement in array usages || others || views || bound_functions loop
      execute statement;
    end loop;
    foreach source in array sources loop
      perform audit.refill(source, at, organization_id);
    end loop;
    for next in
      select t.name, t.relation, string_agg(quote_ident(a.attname), ', ') as columns
      from unnest(tables, names) as t (relation, name)
      join pg_attribute a on a.attrelid = t.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where t.relation = any (kept)
      group by t.name, t.relation
    loop
      execute format('insert into %s (%3$s) select %3$s from %2$s', next.name, next.relation, next.columns);
    end loop;
    with recursive paths as (
      select u.organization_id, u.id, array[u.id] as ids from app_public.units u where u.parent_id is null
      union all
      select u.organization_id, u.id, p.ids || u.id
      from paths p join app_public.units u on u.organization_id = p.organization_id and u.parent_id = p.id
    )
    update app_public.units u set ancestor_ids = p.ids
    from paths p where p.organization_id = u.organization_id and p.id = u.id and u.ancestor_ids is distinct from p.ids;
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
      select u.organization_id, a, u.id from app_public.units u cross join unnest(u.ancestor_ids) as a;
    -- A grant may have begun or ended since.
    execute format(
      'create or replace function app_hidden.current_moment() returns timestamptz
         language plpgsql stable parallel safe set search_path = pg_catalog, pg_temp as %L', format('begin return %L; end', at));
    execute 'create or replace view audit.principals with (security_invoker = true) as ' || principals;
    foreach statement in array indexes || security || policies || rights loop
      execute statement;
    end loop;
  end
  $function$;
comment on function audit.rebuild(timestamp with time zone,uuid) is 'Lets copies of the recorded tables, with the rows of that time and the present policies and rights, stand in for these until the subtransaction ends. Of one organization, where all policies compare the organization; else of all.';
grant execute on function audit.rebuild(timestamp with time zone,uuid) to graph_admin;

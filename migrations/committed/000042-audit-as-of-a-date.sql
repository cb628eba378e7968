--! Previous: sha1:b52cbc0b52d645ff53979cd582d03d73099606c7
--! Hash: sha1:6257d22d1a34362079c03a8143c6a7bb5262edc8
--! Message: audit as of a date

-- Who could see or change a row at a time that has passed, and what a caller saw then. The history takes back what has changed since, in
-- copies of the recorded tables. The present policies are asked about these copies.
--
-- In a subtransaction that is always rolled back, the schemas are renamed. New ones of the same name get the functions as they are, copies
-- of tables and views, and the policies by their text. No other session sees any of it or waits for it: the names of schemas are locked,
-- and no table.

create view audit.recorded with (security_invoker = true) as
  select
    t.tgrelid::regclass as relation,
    r.name,
    known.subject as subject_column,
    known.key as row_columns,
    known.secrets,
    known.derived,
    key.columns as key_columns,
    key.columns <@ (array['organization_id', known.subject] || known.key) as rebuildable
  from pg_trigger t
  join audit.relations r on r.relation = t.tgrelid
  cross join lateral audit.columns_of(t.tgrelid, substring(encode(t.tgargs, 'escape') from '^[a-z]*'), null, null) as known
  cross join lateral (
    select array_agg(a.attname::text order by position) as columns
    from pg_index i
    cross join unnest(i.indkey) with ordinality as k (number, position)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where i.indrelid = t.tgrelid and i.indisprimary and position <= i.indnkeyatts
  ) as key
  where t.tgfoid = 'audit.record_row'::regproc and t.tgparentid = 0;
comment on view audit.recorded is 'The tables whose changes audit.record has recorded, and how.';
comment on column audit.recorded.subject_column is 'The column of the person whom a row belongs to.';
comment on column audit.recorded.row_columns is 'The columns that say which row it is: row_id of the history has their values.';
comment on column audit.recorded.rebuildable is 'Whether an entry of the history says which row it is about, by the primary key.';
grant select on audit.recorded to graph_auditor, graph_admin;

create function audit.refill(source audit.recorded, at timestamptz, organization_id uuid) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
  declare
    has_organization boolean = exists (select from pg_attribute a where a.attrelid = source.relation and a.attname = 'organization_id' and not a.attisdropped);
    has_subject boolean = source.subject_column = any (source.key_columns);
    written text = (
      select string_agg(quote_ident(a.attname), ', ' order by a.attnum)
      from pg_attribute a where a.attrelid = source.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '');
    -- As the history has it; by a uuid an index finds the row.
    named text = (
      select case
        when count(*) > 1
          then format('jsonb_build_object(%s)::text = changed.row_id', string_agg(format('%1$L, present.%1$I', a.attname), ', '))
        when min(a.atttypid::regtype::text) = 'uuid' then format('present.%I = changed.row_id::uuid', min(a.attname::text))
        else format('to_jsonb(present.%I) #>> ''{}'' = changed.row_id', min(a.attname::text))
      end
      from pg_attribute a where a.attrelid = source.relation and a.attname = any (source.row_columns))
      || case when has_organization then ' and present.organization_id = changed.organization_id' else '' end
      || case when has_subject then format(' and present.%I = changed.subject_id', source.subject_column) else '' end;
    asked text = case when organization_id is null then '' else format(' and %s = %L', case when has_organization then 'organization_id' else 'id' end, organization_id) end;
  begin
    if exists (
      select from audit.changes c
      where c.relation = source.name and c.occurred_at > at
        and (c.command = 'update' and c.columns && source.key_columns
          or c.command in ('insert', 'delete')
            and not c.columns @> array(select unnest(source.key_columns) except select unnest(source.derived)))
        and (c.organization_id = refill.organization_id or refill.organization_id is null))
    then
      raise exception using
        errcode = 'feature_not_supported',
        message = format('%s cannot be rebuilt: a key was changed or renamed since %s', source.name, at);
    end if;
    if exists (
      select from audit.changes c
      where c.organization_id = '00000000-0000-0000-0000-000000000000' and c.relation = source.name and c.occurred_at > at
        and c.command = 'backfill')
    then
      raise warning using message = format('%s was backfilled since %s: what that wrote is taken for what was there', source.name, at);
    end if;
    -- A row is there if the first that happened to it since is no insert. It is what its first delete has recorded, or else what it is; the
    -- earliest update of a column says what that was before. A row of a person who was deleted since says nothing any more.
    execute format(
      'with undone as materialized (
         select c.organization_id, c.row_id, case when %1$L then c.subject_id end as subject_id, c.id, c.command, c.before
         from audit.changes c
         where c.relation = %2$L and c.occurred_at > $1 and c.command in (''insert'', ''update'', ''delete'')
           and (c.organization_id = $2 or $2 is null)
       ),
       changed as materialized (
         select u.organization_id, u.row_id, u.subject_id,
           (array_agg(u.command order by u.id))[1] as first_command,
           min(u.id) filter (where u.command = ''delete'') as deleted_id,
           (array_agg(u.before order by u.id) filter (where u.command = ''delete''))[1] as deleted
         from undone u
         group by u.organization_id, u.row_id, u.subject_id
       ),
       rebuilt as (
         select case when changed.deleted_id is null then to_jsonb(present) else changed.deleted end || coalesce(earlier.value, ''{}'') as value
         from changed
         left join %3$s present on %4$s
         left join lateral (
           select jsonb_object_agg(e.key, e.value order by u.id desc) as value
           from undone u
           cross join jsonb_each(u.before) as e
           where u.organization_id = changed.organization_id and u.row_id = changed.row_id and u.subject_id is not distinct from changed.subject_id
             and u.command = ''update'' and (changed.deleted_id is null or u.id < changed.deleted_id)
         ) as earlier on true
         where changed.first_command <> ''insert''
       )
       insert into %5$s (%6$s)
       select %6$s from %3$s present where not exists (select from changed where %4$s)%7$s
       union all
       select r.* from rebuilt, lateral (select %6$s from jsonb_populate_record(null::%3$s, rebuilt.value)) as r where rebuilt.value is not null',
      has_subject, source.name, source.relation, named, source.name, written, asked)
      using at, organization_id;
  end
  $$;
comment on function audit.refill(audit.recorded, timestamptz, uuid) is 'Fills the copy of a recorded table, which has its name, with the rows as they were; of one organization, or of all.';

create function audit.rebuild(at timestamptz, organization_id uuid) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set standard_conforming_strings = on set quote_all_identifiers = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
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
  $$;
comment on function audit.rebuild(timestamptz, uuid) is
  'Lets copies of the recorded tables, with the rows of that time and the present policies and rights, stand in for these '
  'until the subtransaction ends. Of one organization, where all policies compare the organization; else of all.';

create function audit.who_could(relation regclass, key text, at timestamptz)
  returns table (command text, principal text, name text, columns text[], policies text[], rules text[], through text)
  language plpgsql volatile set search_path = pg_catalog, pg_temp set quote_all_identifiers = off set jit = off
  as $$
  declare
    asked text = (select r.name from audit.recorded r where r.relation = who_could.relation and r.rebuildable);
    organization_id uuid;
  begin
    if asked is null then
      raise exception using
        errcode = 'invalid_parameter_value', message = format('No history says which rows %s had', relation), hint = 'audit.recorded lists the tables that have one.';
    end if;
    begin
      organization_id = audit.find_row(relation, key) ->> 'organization_id';
    exception
      -- Deleted since, it may have been of any.
      when no_data_found then null;
    end;
    begin
      perform audit.rebuild(at, organization_id);
      return query select w.* from audit.who_can(asked::regclass, key) w;
      raise exception using errcode = 'UNDID';
    exception
      when sqlstate 'UNDID' then null;
    end;
  end
  $$;
comment on function audit.who_could(regclass, text, timestamptz) is
  'As audit.who_can, of the row as it was at a time and of the principals of that time, by the present policies. For the owner.';

create function audit.visible_at(principal text, at timestamptz) returns table (relation regclass, key text, value jsonb)
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  set standard_conforming_strings = on set quote_all_identifiers = off set jit = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    tables oid[] = array(select r.relation from audit.recorded r where r.rebuildable order by r.name);
    sources audit.recorded[] = array(select r from audit.recorded r where r.rebuildable order by r.name);
    source audit.recorded;
    candidate audit.principals;
    statements text[] = '{}';
    statement text;
    organization_id uuid;
  begin
    begin
      organization_id = (audit.find_principal(principal)).organization_id;
    exception
      -- Deleted since, it may have been of any.
      when no_data_found then null;
    end;
    begin
      perform audit.rebuild(at, organization_id);
      candidate = audit.find_principal(principal);
      foreach source in array sources loop
        statements = statements || array(
          select format(
            'select %s::oid::regclass, %s, jsonb_strip_nulls(jsonb_build_object(%s)) from %s t', source.relation::oid,
            (
              select case count(*) when 1 then format('t.%I::text', min(k)) else format('jsonb_build_object(%s)::text', string_agg(format('%L, t.%I', k, k), ', ')) end
              from unnest(source.key_columns) as k where k <> 'organization_id'),
            (
              select string_agg(format('%L, t.%I', a.attname, a.attname), ', ' order by a.attnum)
              from pg_attribute a
              where a.attrelid = m.relation and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and (m.columns = '{}' or a.attname = any (m.columns))
                and a.attname <> all (source.key_columns || source.secrets || source.derived)),
            source.name)
          from audit.matrix m
          where m.relation = to_regclass(source.name) and m.role = candidate.role and m.command = 'select' and m.granted);
      end loop;
      foreach source in array sources loop
        perform audit.let_find(source.name::regclass, candidate.role);
      end loop;
      perform audit.become(candidate);
      foreach statement in array statements loop
        return query execute statement;
      end loop;
      raise exception using errcode = 'UNDID';
    exception
      when sqlstate 'UNDID' then null;
    end;
  end
  $$;
comment on function audit.visible_at(text, timestamptz) is
  'Each row of a recorded table that the principal could see at a time, by the present policies: its key as audit.who_could takes it, and what the history records of it. For the owner.';

create function audit.explain_decision(principal text, question jsonb, at timestamptz default null)
  returns table (step text, id uuid, name text, detail text, holds boolean)
  language plpgsql volatile set search_path = pg_catalog, pg_temp set jit = off
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set timezone = 'UTC' set bytea_output = 'hex' set extra_float_digits = 1
  as $$
  declare
    candidate audit.principals = audit.find_principal(principal);
    own uuid = candidate.organization_id;
    unknown text = (
      select string_agg(key, ', ') from jsonb_object_keys(question) as key
      where key not in (select a.attname from pg_attribute a where a.attrelid = 'app_hidden.access_question'::regclass and a.attnum > 0));
    decision app_public.access_decision;
    moment timestamptz;
  begin
    if candidate.role <> 'graph_app' or unknown is not null then
      raise exception using
        errcode = 'invalid_parameter_value',
        message = case when unknown is null then format('%s asks for no decision', principal) else format('A decision is not asked by %s', unknown) end,
        hint = case when unknown is null then 'An application does: app:<client id>'
          else 'Such as {"unit_external_identifier": "…", "nfc_identifier": "…"}; see app_hidden.access_question.' end;
    end if;
    begin
      if explain_decision.at is not null then
        perform audit.rebuild(explain_decision.at, own);
      end if;
      perform audit.become(candidate);
      moment = coalesce((question ->> 'at')::timestamptz, app_hidden.current_moment());
      decision = app_hidden.decide_access(array[jsonb_populate_record(null::app_hidden.access_question, question)]);
      return query
        with holders as materialized (
          select u.id, u.full_name
          from app_public.users u
          where u.organization_id = own
            and case when decision.card_id is null then u.id = decision.user_id
              else u.id in (select a.user_id from app_public.card_assignments a where a.organization_id = own and a.card_id = decision.card_id) end
        ),
        path as materialized (
          select u.id, u.name, above.place
          from app_public.units asked
          cross join unnest(asked.ancestor_ids) with ordinality as above (id, place)
          join app_public.units u on u.organization_id = own and u.id = above.id
          where asked.organization_id = own and asked.id = decision.unit_id
        )
        select told.step, told.id, told.name, told.detail, told.holds
        from (
          select 1 as part, 0::bigint as place, 'decision' as step, null::uuid as id, decision.reason::text as name, moment::text as detail, decision.is_allowed as holds
          union all
          select 2, 0, 'card', c.id, c.name, c.type, true from app_public.cards c where c.organization_id = own and c.id = decision.card_id
          union all
          select 3, 0, case when decision.card_id is null then 'user' else 'holder' end, h.id, h.full_name, null, true from holders h
          union all
          select 4, -p.place, 'unit', p.id, p.name, case when p.id = decision.unit_id then 'asked for' else 'above' end, true from path p
          union all
          select
            5, -p.place, 'grant', a.id, format('%s: %s', h.full_name, p.name),
            concat_ws(', ', case when a.id = decision.access_grant_id then 'decides' end, 'of ' || a.source, 'from ' || a.valid_from, 'until ' || a.valid_until),
            (a.valid_from is null or a.valid_from <= moment) and (a.valid_until is null or a.valid_until > moment)
          from app_hidden.unit_access a
          join holders h on h.id = a.user_id
          join path p on p.id = a.unit_id
          where a.organization_id = own
        ) as told
        order by told.part, told.place, told.id;
      raise exception using errcode = 'UNDID';
    exception
      when sqlstate 'UNDID' then null;
    end;
  end
  $$;
comment on function audit.explain_decision(text, jsonb, timestamptz) is
  'What an application is told when it asks whether somebody may enter, and the path to it: card, holders, units and grants. The question has the columns of app_hidden.access_question. At a time that has passed, cards, units and grants are those of then. For the owner.';

grant execute on function
  audit.refill(audit.recorded, timestamptz, uuid), audit.rebuild(timestamptz, uuid),
  audit.who_could(regclass, text, timestamptz), audit.visible_at(text, timestamptz),
  audit.explain_decision(text, jsonb, timestamptz)
  to graph_admin;

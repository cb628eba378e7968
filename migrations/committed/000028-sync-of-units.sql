--! Previous: sha1:451a7fb586d25543d54ec22bcd56a160693b6d9f
--! Hash: sha1:c913e2692796da5805b862d2098fc670ad18f2b0
--! Message: sync of units

-- The sync of units. Rows name their parents by external identifier, in any order: units that are there, and others of the same sync.
--
-- New units are written by one statement, parents first, and units that move by another. The function that writes keeps its plans, since its
-- settings hold for the triggers of what it writes, too.

create type app_public.unit_sync_input as (external_identifier text, name text, parent_external_identifier text);
comment on type app_public.unit_sync_input is 'A unit as a client system has it. What is left out stays as it is; a new unit needs `name`.';
comment on column app_public.unit_sync_input.external_identifier is E'@notNull\nIdentifier that the client system assigns: 1 to 200 characters, compared exactly. It says which unit is meant.';
comment on column app_public.unit_sync_input.name is 'Name: 1 to 200 characters.';
comment on column app_public.unit_sync_input.parent_external_identifier is 'External identifier of the unit above, which may be another row; null makes it a root, as a new unit is without it.';

create type app_public.unit_sync_result as (
  external_identifier text, outcome app_public.sync_outcome, unit app_public.units, error app_public.sync_error);
comment on type app_public.unit_sync_result is 'What came of a row of `unitsSync`.';
comment on column app_public.unit_sync_result.external_identifier is E'@notNull\nThe row, by its external identifier.';
comment on column app_public.unit_sync_result.outcome is E'@notNull\nWhat came of it.';
comment on column app_public.unit_sync_result.unit is 'The unit after the sync; null when the row was refused, and for a new one of a dry run.';
comment on column app_public.unit_sync_result.error is 'Why the row was refused; null unless it was.';

create type app_hidden.judged_unit as (
  place int, external_identifier text, parent text, changes jsonb, before app_public.units, after app_public.units, depth int,
  outcome app_public.sync_outcome, error app_public.sync_error);
comment on type app_hidden.judged_unit is
  'A row of a sync: the columns that it gives, the unit before and after it, and how many rows above it are written before it.';

-- Pointer jumping: each round doubles how far each pointer reaches, so that a thousand rows take eleven rounds, however deep they are.
create function app_hidden.depths_below(above int[]) returns int[]
  language plpgsql immutable set search_path = pg_catalog, pg_temp
  as $$
  declare
    count int = cardinality(above);
    pointers int[] = above;
    depths int[] = array(select case when a = 0 then 0 else 1 end from unnest(above) with ordinality as r (a, n) order by n);
    reach int = 1;
    circle int[];
  begin
    -- One round more than reaches every root: then a pointer that leads anywhere leads into a circle.
    while reach <= count loop
      select
        array_agg(depths[n] + case when p = 0 then 0 else depths[p] end order by n),
        array_agg(case when p = 0 then 0 else pointers[p] end order by n)
        into depths, pointers
      from unnest(pointers) with ordinality as r (p, n);
      reach = reach * 2;
    end loop;
    circle = array(select distinct p from unnest(pointers) as c (p) where p <> 0);
    return array(
      select case when n = any (circle) then -1 else depth end
      from unnest(depths) with ordinality as r (depth, n)
      order by n);
  end
  $$;
comment on function app_hidden.depths_below(int[]) is
  'How many steps lead from each position of an array to 0, each to the position that it names; -1 for those in a circle.';

create function app_hidden.judge_units(given jsonb[]) returns app_hidden.judged_unit[]
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    judged app_hidden.judged_unit[];
    depths int[];
  begin
    with given as materialized (
      select
        place, g ->> 'external_identifier' as external_identifier,
        g ? 'parent_external_identifier' as has_parent, g ->> 'parent_external_identifier' as parent,
        g - 'parent_external_identifier'
          || case when g ? 'name' then jsonb_build_object('name', app_hidden.trimmed(g ->> 'name')) else '{}' end as columns,
        row_number() over (partition by g ->> 'external_identifier' order by place) as number
      from unnest(judge_units.given) with ordinality as rows (g, place)
    ),
    known as materialized (
      select g.*, u as before, coalesce(u.id, app_hidden.uuid_v7()) as id
      from given g
      left join app_public.units u on u.organization_id = organization and u.external_identifier = g.external_identifier
    ),
    placed as materialized (
      select k.*, coalesce(p.id, u.id) as parent_id
      from known k
      left join known p on p.external_identifier = k.parent and p.number = 1
      left join app_public.units u on p.id is null and u.organization_id = organization and u.external_identifier = k.parent
    ),
    wanted as materialized (
      select
        p.*, c.changes,
        jsonb_populate_record(
          coalesce(p.before, jsonb_populate_record(null::app_public.units, jsonb_build_object('organization_id', organization, 'id', p.id))),
          -- As the check of the path asks for it; triggers have the whole.
          c.changes || case when p.has_parent then jsonb_build_object('ancestor_ids', array_remove(array[p.parent_id, p.id], null)) else '{}' end
        ) as after
      from placed p
      cross join lateral (
        select case when p.has_parent then p.columns || jsonb_build_object('parent_id', p.parent_id) else p.columns end as changes
      ) as c
    ),
    checks as (
      select n as place, rule
      from unnest(app_hidden.broken_checks((select array_agg(w.after order by w.place) from wanted w))) with ordinality as broken (rule, n)
    )
    select array_agg(row (
      w.place, w.external_identifier, w.parent, w.changes, w.before, w.after, null, null,
      case
        when w.number > 1 then row ('CONFLICT', 'externalIdentifier', 'An earlier row has this external identifier.')::app_public.sync_error
        when w.before is null and w.columns ->> 'name' is null then row ('BAD_USER_INPUT', 'name', 'A new unit needs name.')::app_public.sync_error
        when w.columns -> 'name' = 'null'
          then row ('BAD_USER_INPUT', 'name', 'name cannot be null; leave it out to keep its value.')::app_public.sync_error
        when checks.rule is not null then app_hidden.refusal_of(checks.rule)
        when w.parent is not null and w.parent_id is null
          then row ('NOT_FOUND', 'parentExternalIdentifier', 'There is no such unit.')::app_public.sync_error
      end)::app_hidden.judged_unit order by w.place) into judged
    from wanted w
    join checks using (place);

    -- A row that is refused leaves its unit where it is: the rows that name it as their parent are refused, and the others placed anew.
    loop
      with recursive firsts as (
        select distinct on (external_identifier) place, external_identifier, (error).code is not null as is_refused
        from unnest(judged)
        order by external_identifier, place
      ),
      refused (place, external_identifier) as (
        select place, external_identifier from firsts where is_refused
        union
        select j.place, j.external_identifier
        from unnest(judged) as j
        join refused r on r.external_identifier = j.parent
        where (j.error).code is null
      )
      select array_agg(row (
        j.place, j.external_identifier, j.parent, j.changes, j.before, j.after, null, null,
        case
          when (j.error).code is null and r.place is not null
            then row ('NOT_FOUND', 'parentExternalIdentifier', 'The unit above is refused itself.')::app_public.sync_error
          else j.error
        end)::app_hidden.judged_unit order by j.place) into judged
      from unnest(judged) as j
      left join refused r on r.place = j.place;

      -- What is new or moves comes after the nearest above it that does so, too. What does neither keeps its ancestors.
      with moved as materialized (
        select place, (after).id, (after).parent_id
        from unnest(judged)
        where (error).code is null and ((before).id is null or (before).parent_id is distinct from (after).parent_id)
      ),
      above as materialized (
        select m.place, coalesce(p.place, a.place, 0) as above
        from moved m
        left join moved p on p.id = m.parent_id
        left join app_public.units u on p.place is null and u.organization_id = organization and u.id = m.parent_id
        left join lateral (
          select ancestors.place
          from unnest(u.ancestor_ids) with ordinality as path (id, level)
          join moved as ancestors on ancestors.id = path.id
          order by path.level desc
          limit 1
        ) as a on true
      )
      select app_hidden.depths_below(array_agg(coalesce(a.above, 0) order by j.place)) into depths
      from unnest(judged) as j
      left join above a on a.place = j.place;

      judged = array(
        select row (
          j.place, j.external_identifier, j.parent, j.changes, j.before, j.after, depths[j.place], null,
          case
            when depths[j.place] = -1
              then row ('BAD_USER_INPUT', 'parentExternalIdentifier', 'A unit cannot be below itself.')::app_public.sync_error
            else j.error
          end)::app_hidden.judged_unit
        from unnest(judged) as j
        order by j.place);
      exit when -1 <> all (depths);
    end loop;

    return array(
      select row (
        j.place, j.external_identifier, j.parent, j.changes, j.before, j.after, j.depth,
        case
          when (j.error).code is not null then 'REFUSED'
          when (j.before).id is null then 'CREATED'
          when (j.before).name <> (j.after).name or (j.before).parent_id is distinct from (j.after).parent_id then 'UPDATED'
          else 'UNCHANGED'
        end, j.error)::app_hidden.judged_unit
      from unnest(judged) as j
      order by j.place);
  end
  $$;
comment on function app_hidden.judge_units(jsonb[]) is 'What would come of each row of a sync of units, and why it would be refused. Writes nothing.';

-- No plan that is kept joins the table: it may have been made when the table was small, and read all units of the organization for each row of a sync.
create function app_hidden.write_units(judged app_hidden.judged_unit[]) returns void
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = auto set enable_seqscan = off
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    changes_by_id jsonb = (select jsonb_object_agg((before).id, changes) from unnest(judged) where outcome = 'UPDATED');
    moved_ids uuid[] = array(
      select (before).id from unnest(judged) where outcome = 'UPDATED' and (before).parent_id is distinct from (after).parent_id);
  begin
    -- Parents first. Each finds the ancestors of the one above it, which the same statement has written.
    insert into app_public.units (organization_id, id, parent_id, external_identifier, name)
    select organization, (after).id, (after).parent_id, (after).external_identifier, (after).name
    from unnest(judged)
    where outcome = 'CREATED'
    order by depth, (after).id;

    update app_public.units u set (name, parent_id) = (
      select c.name, c.parent_id from jsonb_populate_record(u, changes_by_id -> u.id::text) as c
    )
    where u.organization_id = organization and u.id = any (moved_ids);
    update app_public.units u set name = (select c.name from jsonb_populate_record(u, changes_by_id -> u.id::text) as c)
    where u.organization_id = organization
      and u.id = any (array(select (before).id from unnest(judged) where outcome = 'UPDATED' and (before).id <> all (moved_ids)));
  end
  $$;
comment on function app_hidden.write_units(app_hidden.judged_unit[]) is 'Writes those units of a sync that are new or differ.';

create function app_public.units_sync(units jsonb[], dry_run boolean default false) returns setof app_public.unit_sync_result
  language plpgsql volatile set search_path = pg_catalog, pg_temp set plan_cache_mode = force_custom_plan
  as $$
  declare
    organization uuid = app_hidden.current_organization_id();
    is_dry_run boolean = coalesce(dry_run, false);
    judged app_hidden.judged_unit[];
    tries int = 0;
  begin
    if cardinality(units_sync.units) = 0 then
      raise invalid_parameter_value using message = 'A sync has 1 to 1,000 rows', column = 'units';
    end if;
    if not is_dry_run then
      perform app_hidden.lock_units();
    end if;
    loop
      judged = app_hidden.judge_units(units_sync.units);
      exit when is_dry_run;
      begin
        perform app_hidden.write_units(judged);
        exit;
      exception
        -- Another change took an external identifier since they were judged.
        when unique_violation then
          tries = tries + 1;
          if tries = 3 then
            raise;
          end if;
      end;
    end loop;

    return query
      select j.external_identifier, j.outcome, case when j.outcome <> 'REFUSED' then u end, j.error
      from unnest(judged) as j
      left join app_public.units u on u.organization_id = organization and u.id = (j.after).id
      order by j.place;
  end
  $$;
comment on function app_public.units_sync(jsonb[], boolean) is
  E'@mutation\n@payloadField results\n@param {UnitSyncInput} units The units: 1 to 1,000, in any order.\n@param dryRun = false Whether nothing is written, and the results say what would come of it.\nMakes units what a client system has: creates those that are new, changes and moves those that differ and leaves the rest untouched; none is deleted. A row that is refused changes nothing, the others are written, all in one transaction. The results are in the order of the rows. Needs an app token (scope `app`).';

grant execute on function
  app_hidden.depths_below(int[]), app_hidden.judge_units(jsonb[]), app_hidden.write_units(app_hidden.judged_unit[]),
  app_public.units_sync(jsonb[], boolean)
  to graph_app, graph_admin;

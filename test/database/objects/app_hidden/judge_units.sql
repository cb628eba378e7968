CREATE OR REPLACE FUNCTION app_hidden.judge_units(given jsonb[])
 RETURNS app_hidden.judged_unit[]
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
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
  $function$;
comment on function app_hidden.judge_units(jsonb[]) is 'What would come of each row of a sync of units, and why it would be refused. Writes nothing.';
grant execute on function app_hidden.judge_units(jsonb[]) to graph_admin;
grant execute on function app_hidden.judge_units(jsonb[]) to graph_app;

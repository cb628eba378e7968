CREATE OR REPLACE FUNCTION app_hidden.units_move_subtrees()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET row_security TO 'on'
 SET plan_cache_mode TO 'force_custom_plan'
AS $function$
  declare
    -- Units by their organizations and ids, pairs by their ancestors also: of the same length.
    organization_ids uuid[];
    unit_ids uuid[];
    ancestor_ids uuid[];
    is_circular boolean;
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    select array_agg(moved.organization_id), array_agg(moved.id) into organization_ids, unit_ids
    from (select organization_id, id, parent_id from after except select organization_id, id, parent_id from before) as moved;
    if unit_ids is null then
      return null;
    end if;

    with recursive affected as (
      select u.organization_id, u.id, u.parent_id
      from unnest(organization_ids, unit_ids) as moved (organization_id, id)
      join app_public.units u using (organization_id, id)
      union
      select u.organization_id, u.id, u.parent_id
      from app_public.units u
      join affected on u.organization_id = affected.organization_id and u.parent_id = affected.id
    ),
    placed as (
      select a.organization_id, a.id, coalesce(p.ancestor_ids, '{}') || a.id as ancestor_ids
      from affected a
      left join app_public.units p on p.organization_id = a.organization_id and p.id = a.parent_id
      where not exists (select from affected b where b.organization_id = a.organization_id and b.id = a.parent_id)
      union all
      select a.organization_id, a.id, placed.ancestor_ids || a.id
      from affected a
      join placed on placed.organization_id = a.organization_id and placed.id = a.parent_id
    ),
    written as (
      update app_public.units u set ancestor_ids = placed.ancestor_ids
      from placed
      where u.organization_id = placed.organization_id and u.id = placed.id and u.ancestor_ids <> placed.ancestor_ids
    ),
    pairs_before as materialized (
      select u.organization_id, unnest(coalesce(b.ancestor_ids, u.ancestor_ids)) as ancestor_id, u.id as unit_id
      from affected
      join app_public.units u using (organization_id, id)
      left join before b using (organization_id, id)
    ),
    pairs_after as materialized (
      select organization_id, unnest(placed.ancestor_ids) as ancestor_id, id as unit_id from placed
    ),
    added as (
      insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
      table pairs_after except table pairs_before
    )
    select
        array_agg(gone.organization_id), array_agg(gone.ancestor_id), array_agg(gone.unit_id),
        (select count(*) from affected) > (select count(*) from placed)
      into organization_ids, ancestor_ids, unit_ids, is_circular
    from (table pairs_before except table pairs_after) as gone;
    -- No way leads from a root to what is in a circle or below one.
    if is_circular then
      raise exception 'A unit cannot be below itself'
        using errcode = 'check_violation', constraint = 'units_no_cycle', schema = 'app_public', table = 'units';
    end if;
    delete from app_hidden.unit_ancestors a
    using unnest(organization_ids, ancestor_ids, unit_ids) as gone (organization_id, ancestor_id, unit_id)
    where a.organization_id = gone.organization_id and a.ancestor_id = gone.ancestor_id and a.unit_id = gone.unit_id;
    return null;
  end
  $function$;
alter function app_hidden.units_move_subtrees() owner to graph_helper;
comment on function app_hidden.units_move_subtrees() is 'Takes all that is below a moved unit along, in ancestor_ids and in app_hidden.unit_ancestors, and rejects a unit that would be below itself.';

CREATE OR REPLACE FUNCTION app_hidden.units_move_subtrees()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    organization_ids uuid[];
    moved_ids uuid[];
  begin
    -- Runs as graph_helper because no other role may write ancestors.
    select array_agg(moved.organization_id), array_agg(moved.id) into organization_ids, moved_ids
    from (select organization_id, id, parent_id from after except select organization_id, id, parent_id from before) as moved;
    if moved_ids is null then
      return null;
    end if;

    -- units_place saw each row alone; several rows of one statement can still close a circle.
    if exists (
      with recursive above as (
        select u.organization_id, u.id, u.parent_id
        from unnest(organization_ids, moved_ids) as moved (organization_id, id)
        join app_public.units u using (organization_id, id)
        union all
        select u.organization_id, u.id, u.parent_id
        from app_public.units u
        join above on u.organization_id = above.organization_id and u.id = above.parent_id
      ) cycle id set is_cycle using path
      select from above where is_cycle
    ) then
      raise exception 'A unit cannot be below itself'
        using errcode = 'check_violation', constraint = 'units_no_cycle', schema = 'app_public', table = 'units';
    end if;

    with recursive affected as (
      select u.organization_id, u.id, u.parent_id
      from unnest(organization_ids, moved_ids) as moved (organization_id, id)
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
    )
    update app_public.units u set ancestor_ids = placed.ancestor_ids
    from placed
    where u.organization_id = placed.organization_id and u.id = placed.id and u.ancestor_ids <> placed.ancestor_ids;

    delete from app_hidden.unit_ancestors a
    using app_public.units u
    where a.organization_id = u.organization_id and a.unit_id = u.id
      and u.organization_id = any (organization_ids) and u.ancestor_ids && moved_ids
      and a.ancestor_id <> all (u.ancestor_ids);
    insert into app_hidden.unit_ancestors (organization_id, ancestor_id, unit_id)
    select u.organization_id, above.id, u.id
    from app_public.units u
    cross join lateral unnest(u.ancestor_ids) as above (id)
    where u.organization_id = any (organization_ids) and u.ancestor_ids && moved_ids
      and not exists (
        select from app_hidden.unit_ancestors a
        where a.organization_id = u.organization_id and a.ancestor_id = above.id and a.unit_id = u.id);
    return null;
  end
  $function$;
alter function app_hidden.units_move_subtrees() owner to graph_helper;
comment on function app_hidden.units_move_subtrees() is 'Takes all that is below a moved unit along, in ancestor_ids and in app_hidden.unit_ancestors.';

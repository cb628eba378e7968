CREATE OR REPLACE FUNCTION app_hidden.first_accessible_unit_ids(user_id uuid, count integer, after uuid)
 RETURNS SETOF uuid
 LANGUAGE plpgsql
 STABLE ROWS 100
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  begin
    return query
    with granted as materialized (
      select access.unit_id, first.unit_id as first_id
      from app_hidden.unit_access access
      cross join lateral (
        select unit_id
        from app_hidden.unit_ancestors
        where organization_id = (select app_hidden.current_organization_id())
          and ancestor_id = access.unit_id
          and unit_id > coalesce(first_accessible_unit_ids.after, '00000000-0000-0000-0000-000000000000')
        order by unit_id
        limit 1
      ) as first
      where access.organization_id = (select app_hidden.current_organization_id()) and access.user_id = first_accessible_unit_ids.user_id
        and (access.valid_from is null or access.valid_from <= (select app_hidden.current_moment()))
        and (access.valid_until is null or access.valid_until > (select app_hidden.current_moment()))
    ),
    -- `count` grants with different first rows hold at least `count` units up to the last of these: the page ends there.
    bound as materialized (
      select coalesce(
        (select distinct first_id from granted order by first_id offset first_accessible_unit_ids.count - 1 limit 1),
        'ffffffff-ffff-ffff-ffff-ffffffffffff') as id
    )
    select distinct a.unit_id
    from granted
    cross join lateral (
      select unit_id
      from app_hidden.unit_ancestors
      where organization_id = (select app_hidden.current_organization_id())
        and ancestor_id = granted.unit_id
        and unit_id between granted.first_id and (select id from bound)
      order by unit_id
      limit first_accessible_unit_ids.count
    ) as a
    where granted.first_id <= (select id from bound)
    order by a.unit_id
    limit first_accessible_unit_ids.count;
  end
  $function$;
comment on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) is 'The first `count` units after a key that a user may enter, in the order of the key.';
grant execute on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) to graph_app;
grant execute on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) to graph_basic;
grant execute on function app_hidden.first_accessible_unit_ids(uuid,integer,uuid) to graph_user;

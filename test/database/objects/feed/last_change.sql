CREATE OR REPLACE FUNCTION feed.last_change()
 RETURNS TABLE(horizon xid8, id bigint)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_sort TO 'off'
AS $function$
    select c.horizon, c.id
    from feed.changes c
    where c.organization_id = (select app_hidden.current_organization_id())
      and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
      and c.at >= feed.oldest()
      and c.origin = (select feed.origin())
    order by c.horizon desc, c.id desc
    limit 1
  $function$;
comment on function feed.last_change() is 'The position of the last change of the organization that is certain; no row without one.';
grant execute on function feed.last_change() to graph_admin;
grant execute on function feed.last_change() to graph_app;
grant execute on function feed.last_change() to graph_worker;

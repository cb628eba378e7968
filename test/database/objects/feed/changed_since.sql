CREATE OR REPLACE FUNCTION feed.changed_since(organizations uuid[], horizons xid8[], ids bigint[])
 RETURNS uuid[]
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
 SET row_security TO 'on'
AS $function$
    -- Runs as graph_helper because the service asks about all organizations with one statement, and reads the changes of each as its application.
    select array(
      select asked.organization_id
      from unnest(organizations, horizons, ids) as asked (organization_id, horizon, id)
      cross join lateral (
        select from feed.changes c
        where c.organization_id = asked.organization_id and (c.horizon, c.id) > (asked.horizon, asked.id) and c.origin = (select feed.origin())
          and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
          -- As a reader is shown them: else a stream would read again and again what it is not shown. Partitions of before are left out.
          and c.at >= feed.oldest()
          and to_regclass(c.relation) is not null
        order by c.horizon, c.id
        limit 1) as next)
  $function$;
alter function feed.changed_since(uuid[],xid8[],bigint[]) owner to graph_helper;
comment on function feed.changed_since(uuid[],xid8[],bigint[]) is 'Which organizations have changes that are certain after a position, each its own.';
grant execute on function feed.changed_since(uuid[],xid8[],bigint[]) to graph_oauth;

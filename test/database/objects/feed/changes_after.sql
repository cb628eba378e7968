CREATE OR REPLACE FUNCTION feed.changes_after(after_horizon xid8, after_id bigint, max_rows integer)
 RETURNS TABLE(horizon xid8, id bigint, at timestamp with time zone, relation text, type text, key text[], operation text, columns text[], related jsonb)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
    select c.horizon, c.id, c.at, c.relation, c.type, c.key, c.operation, c.columns, c.related
    from feed.changes c
    where c.organization_id = (select app_hidden.current_organization_id())
      and (c.horizon, c.id) > (changes_after.after_horizon, changes_after.after_id)
      and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
      -- What is older may be gone at any time. A later time than this would not do: a transaction may write long before it ends.
      and c.at >= feed.oldest()
      and c.origin = (select feed.origin())
      -- A table that was dropped is no longer in the graph.
      and to_regclass(c.relation) is not null
    order by c.horizon, c.id
    limit changes_after.max_rows
  $function$;
comment on function feed.changes_after(xid8,bigint,integer) is 'The next changes of the organization after a position, as far as they are certain.';
grant execute on function feed.changes_after(xid8,bigint,integer) to graph_admin;
grant execute on function feed.changes_after(xid8,bigint,integer) to graph_app;
grant execute on function feed.changes_after(xid8,bigint,integer) to graph_worker;

CREATE OR REPLACE FUNCTION feed.due_webhooks(max_rows integer)
 RETURNS TABLE(organization_id uuid, webhook_id uuid)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_sort TO 'off'
 SET plan_cache_mode TO 'force_generic_plan'
 SET jit TO 'off'
AS $function$
    with last as materialized (
      select o.organization_id, c.horizon, c.id
      from (select distinct p.organization_id from app_hidden.webhook_positions p) as o
      cross join lateral (
        select c.horizon, c.id
        from feed.changes c
        where c.organization_id = o.organization_id and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
          and c.at >= statement_timestamp() - interval '2 hours' and c.at < statement_timestamp() + interval '1 hour'
          and c.origin = (select feed.origin()) and to_regclass(c.relation) is not null
        order by c.horizon desc, c.id desc
        limit 1) as c)
    select p.organization_id, p.webhook_id
    from app_hidden.webhook_positions p
    join app_public.webhooks w on w.organization_id = p.organization_id and w.id = p.webhook_id
    left join last on last.organization_id = p.organization_id
    where (select app_hidden.has_webhook_charge()) and w.enabled and coalesce(p.leased_until <= statement_timestamp(), true)
      and (
        p.origin <> (select feed.origin())
        or p.at < statement_timestamp() - interval '1 hour'
        or (last.horizon, last.id) > (p.horizon, p.change_id)
        or exists (
          select from app_public.webhook_deliveries d
          where d.organization_id = p.organization_id and d.webhook_id = p.webhook_id
            and d.outcome = 'PENDING' and d.next_attempt_at <= statement_timestamp()))
    order by p.leased_until nulls first
    limit due_webhooks.max_rows
  $function$;
comment on function feed.due_webhooks(integer) is 'Webhooks for which there is something to send, or to look at, and that no worker is at; first the one whose last run ended first.';
grant execute on function feed.due_webhooks(integer) to graph_worker;

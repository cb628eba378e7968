CREATE OR REPLACE FUNCTION feed.due_webhooks(max_rows integer)
 RETURNS TABLE(organization_id uuid, webhook_id uuid)
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET jit TO 'off'
AS $function$
    select p.organization_id, p.webhook_id
    from app_hidden.webhook_positions p
    join app_public.webhooks w on w.organization_id = p.organization_id and w.id = p.webhook_id
    where w.enabled and coalesce(p.leased_until <= statement_timestamp(), true)
      and (
        p.origin <> (select feed.origin())
        -- What a transaction wrote that was open for longer than an hour, and so that a quiet webhook does not look through more and more days.
        or p.at < statement_timestamp() - interval '1 hour'
        or exists (
          select from app_public.webhook_deliveries d
          where d.organization_id = p.organization_id and d.webhook_id = p.webhook_id
            and d.outcome = 'PENDING' and d.next_attempt_at <= statement_timestamp())
        or exists (
          select from feed.changes c
          where c.organization_id = p.organization_id and (c.horizon, c.id) > (p.horizon, p.change_id)
            and c.horizon < pg_snapshot_xmin(pg_current_snapshot())
            and c.at >= p.at - interval '1 hour'))
    order by p.leased_until nulls first
    limit due_webhooks.max_rows
  $function$;
comment on function feed.due_webhooks(integer) is 'Webhooks for which there is something to send, or to look at, and that no worker is at; first the one whose last run ended first.';
grant execute on function feed.due_webhooks(integer) to graph_worker;

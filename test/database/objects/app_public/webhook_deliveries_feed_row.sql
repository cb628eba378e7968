CREATE OR REPLACE FUNCTION app_public.webhook_deliveries_feed_row(delivery app_public.webhook_deliveries)
 RETURNS json
 LANGUAGE sql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
    select json_build_object(
      'origin', p.origin::text, 'horizon', c.horizon, 'id', c.id, 'at', c.at, 'relation', c.relation, 'type', c.type, 'key', c.key,
      'operation', c.operation, 'columns', c.columns, 'related', c.related)
    from feed.changes c
    cross join feed.position() p
    where c.organization_id = delivery.organization_id and c.horizon = delivery.horizon::text::xid8 and c.id = delivery.change_id
      and c.at = delivery.changed_at and c.at > p.oldest and c.origin = delivery.origin and c.origin = feed.origin()
  $function$;
comment on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) is '@behavior -*
The change that a delivery is about, while it is kept: plugins/WebhooksPlugin.ts makes a Change of it.';
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_app;
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_basic;
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_user;
grant execute on function app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries) to graph_worker;

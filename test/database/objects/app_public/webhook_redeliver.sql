CREATE OR REPLACE FUNCTION app_public.webhook_redeliver(delivery_id uuid)
 RETURNS app_public.webhook_deliveries
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    delivery app_public.webhook_deliveries;
  begin
    update app_public.webhook_deliveries d
    set outcome = 'PENDING', attempts = 0, first_attempt_at = null, next_attempt_at = statement_timestamp()
    where d.organization_id = app_hidden.current_organization_id() and d.id = webhook_redeliver.delivery_id
    returning * into delivery;
    if not found then
      raise no_data_found using message = 'There is no such delivery';
    end if;
    return delivery;
  end
  $function$;
comment on function app_public.webhook_redeliver(uuid) is '@mutation
@param {WebhookDelivery} deliveryId The delivery, whatever became of it.
Sends a change again, and for three days from then on until the receiver takes it. Needs an app token (scope `app`).';
grant execute on function app_public.webhook_redeliver(uuid) to graph_app;

CREATE OR REPLACE FUNCTION app_public.webhook_delete(id uuid)
 RETURNS app_public.webhooks
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    webhook app_public.webhooks;
  begin
    delete from app_public.webhooks w
    where w.organization_id = app_hidden.current_organization_id() and w.id = webhook_delete.id
    returning * into webhook;
    if not found then
      raise no_data_found using message = 'There is no such webhook';
    end if;
    return webhook;
  end
  $function$;
comment on function app_public.webhook_delete(uuid) is '@mutation
@param {Webhook} id The webhook to delete.
Deletes a webhook with its deliveries. Needs an app token (scope `app`).';
grant execute on function app_public.webhook_delete(uuid) to graph_app;

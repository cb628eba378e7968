CREATE OR REPLACE FUNCTION app_public.webhook_update(id uuid, url text DEFAULT NULL::text, type_names text[] DEFAULT NULL::text[], enabled boolean DEFAULT NULL::boolean, given text[] DEFAULT '{}'::text[])
 RETURNS app_public.webhooks
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    webhook app_public.webhooks;
  begin
    perform app_hidden.require_values(given, '{url,enabled}', array[webhook_update.url, webhook_update.enabled::text]);
    update app_public.webhooks w set
      url = coalesce(webhook_update.url, w.url),
      type_names = case when 'typeNames' = any (given) then webhook_update.type_names else w.type_names end,
      enabled = coalesce(webhook_update.enabled, w.enabled)
    where w.organization_id = app_hidden.current_organization_id() and w.id = webhook_update.id
    returning * into webhook;
    if not found then
      raise no_data_found using message = 'There is no such webhook';
    end if;
    return webhook;
  end
  $function$;
comment on function app_public.webhook_update(uuid,text,text[],boolean,text[]) is '@mutation
@param {Given} given
@param {Webhook} id The webhook to change.
@param {WebhookUrl} url An https URL of a public address: at most 2,000 characters, without user and fragment.
@param {FollowedTypes} typeNames The types whose changes are sent; null for all that are followed.
@param enabled Whether changes are sent. What was not sent meanwhile is sent afterwards.
Changes a webhook. An omitted argument leaves its value. Needs an app token (scope `app`).';
grant execute on function app_public.webhook_update(uuid,text,text[],boolean,text[]) to graph_app;

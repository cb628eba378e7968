CREATE OR REPLACE FUNCTION app_public.webhook_create(url text, type_names text[] DEFAULT NULL::text[], secret jsonb DEFAULT NULL::jsonb)
 RETURNS app_public.webhooks
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    own constant uuid = app_hidden.current_organization_id();
    webhook app_public.webhooks;
  begin
    perform pg_advisory_xact_lock(hashtextextended('app_public.webhooks ' || own, 0));
    if (select count(*) from app_public.webhooks w where w.organization_id = own) >= 20 then
      raise unique_violation using message = 'An organization has at most 20 webhooks';
    end if;
    insert into app_public.webhooks (organization_id, id, url, type_names, secret_ciphertext)
    values (own, (secret ->> 'webhookId')::uuid, webhook_create.url, webhook_create.type_names, decode(secret ->> 'ciphertext', 'hex'))
    returning * into webhook;
    insert into app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at)
    select own, webhook.id, feed.origin(), coalesce(l.horizon, '0'), coalesce(l.id, 0), statement_timestamp()
    from (values (true)) as one
    left join feed.last_change() as l on true;
    return webhook;
  end
  $function$;
comment on function app_public.webhook_create(text,text[],jsonb) is '@mutation
@param {WebhookUrl} url An https URL of a public address: at most 2,000 characters, without user and fragment.
@param {FollowedTypes} typeNames The types whose changes are sent, such as `User`; left out, all that are followed.
@param {WebhookSecret} secret
Has every change from now on sent to a URL, signed with the `secret`, which is shown here alone. At most 20 of an organization. Needs an app token (scope `app`).';
grant execute on function app_public.webhook_create(text,text[],jsonb) to graph_app;

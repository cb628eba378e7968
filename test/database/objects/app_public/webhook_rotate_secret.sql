CREATE OR REPLACE FUNCTION app_public.webhook_rotate_secret(id uuid, secret jsonb DEFAULT NULL::jsonb)
 RETURNS app_public.webhooks
 LANGUAGE plpgsql
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
  declare
    webhook app_public.webhooks;
  begin
    update app_public.webhooks w set
      secret_ciphertext = decode(secret ->> 'ciphertext', 'hex'),
      previous_secret_ciphertext = w.secret_ciphertext,
      previous_valid_until = statement_timestamp() + interval '24 hours'
    where w.organization_id = app_hidden.current_organization_id() and w.id = webhook_rotate_secret.id
    returning * into webhook;
    if not found then
      raise no_data_found using message = 'There is no such webhook';
    end if;
    return webhook;
  end
  $function$;
comment on function app_public.webhook_rotate_secret(uuid,jsonb) is '@mutation
@param {Webhook} id The webhook.
@param {WebhookSecret} secret
Makes a new secret, which is shown here alone. For 24 hours deliveries are signed with the one before, too. Needs an app token (scope `app`).';
grant execute on function app_public.webhook_rotate_secret(uuid,jsonb) to graph_app;

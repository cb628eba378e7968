--! Previous: sha1:befb9bdd7b543f11e8b2789e963755ac7c668b4c
--! Hash: sha1:81091d14a150a8f74732346a8790ce817761097d
--! Message: mutations of webhooks

-- The mutations of webhooks: an application creates, changes and deletes those of its organization, at most 20.
-- The service seals their secrets under SECRET_KEY before it passes them (plugins/WebhooksPlugin.ts).

create function app_public.webhook_create(url text, type_names text[] default null, secret jsonb default null) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.webhook_create(text, text[], jsonb) is
  E'@mutation\n@param {WebhookUrl} url An https URL of a public address: at most 2,000 characters, without user and fragment.\n'
  '@param {FollowedTypes} typeNames The types whose changes are sent, such as `User`; left out, all that are followed.\n'
  '@param {WebhookSecret} secret\n'
  'Has every change from now on sent to a URL, signed with the `secret`, which is shown here alone. At most 20 of an organization. Needs an app token (scope `app`).';

create function app_public.webhook_update(
  id uuid, url text default null, type_names text[] default null, enabled boolean default null, given text[] default '{}'
) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.webhook_update(uuid, text, text[], boolean, text[]) is
  E'@mutation\n@param {Given} given\n@param {Webhook} id The webhook to change.\n'
  '@param {WebhookUrl} url An https URL of a public address: at most 2,000 characters, without user and fragment.\n'
  '@param {FollowedTypes} typeNames The types whose changes are sent; null for all that are followed.\n'
  '@param enabled Whether changes are sent. What was not sent meanwhile is sent afterwards.\n'
  'Changes a webhook. An omitted argument leaves its value. Needs an app token (scope `app`).';

create function app_public.webhook_rotate_secret(id uuid, secret jsonb default null) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.webhook_rotate_secret(uuid, jsonb) is
  E'@mutation\n@param {Webhook} id The webhook.\n@param {WebhookSecret} secret\n'
  'Makes a new secret, which is shown here alone. For 24 hours deliveries are signed with the one before, too. Needs an app token (scope `app`).';

create function app_public.webhook_delete(id uuid) returns app_public.webhooks
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.webhook_delete(uuid) is
  E'@mutation\n@param {Webhook} id The webhook to delete.\nDeletes a webhook with its deliveries. Needs an app token (scope `app`).';

create function app_public.webhook_redeliver(delivery_id uuid) returns app_public.webhook_deliveries
  language plpgsql volatile set search_path = pg_catalog, pg_temp
  as $$
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
  $$;
comment on function app_public.webhook_redeliver(uuid) is
  E'@mutation\n@param {WebhookDelivery} deliveryId The delivery, whatever became of it.\n'
  'Sends a change again, and for three days from then on until the receiver takes it. Needs an app token (scope `app`).';

grant execute on function
  app_public.webhook_create(text, text[], jsonb), app_public.webhook_update(uuid, text, text[], boolean, text[]),
  app_public.webhook_rotate_secret(uuid, jsonb), app_public.webhook_delete(uuid), app_public.webhook_redeliver(uuid)
  to graph_app;

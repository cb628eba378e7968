import type { Pool } from 'pg';
import type { Naming } from '../../plugins/ChangeNamingPlugin.ts';
import type { FeedRow } from '../../plugins/changeFeed.ts';
import { hasMoved } from '../database/pool/unavailable.ts';
import { requireOwnService } from '../token/accessTokens.ts';
import { workerSettings } from '../token/settings.ts';
import { inTransaction, queryOnce } from '../token/transaction.ts';
import type { Attempt } from './post.ts';

export type WebhookKey = { readonly organizationId: string; readonly id: string };

/**
 * The webhooks that have something to send and are not leased, ordered by the end of their last runs.
 *
 * @returns null in a copy of the database, which sends none
 */
export async function findDue(pool: Pool): Promise<WebhookKey[] | null> {
  const { rows } = await queryOnce<WebhookKey & { hasCharge: boolean }>(pool, workerSettings(null), {
    name: 'due webhooks',
    text: `
      select app_hidden.has_webhook_charge() as "hasCharge", organization_id as "organizationId", webhook_id as id
      from (values (true)) as one left join feed.due_webhooks(1000) on true`,
  });
  return rows[0]?.hasCharge ? rows.filter(({ id }) => id !== null) : null;
}

/**
 * Leases a webhook for a time that is longer than a run takes.
 * Here and below, `skip locked` keeps a worker from waiting for a client's transaction, such as one that deletes the webhook.
 *
 * @returns until when; null when another worker has it
 */
export async function lease(pool: Pool, { organizationId, id }: WebhookKey, leaseMs: number): Promise<string | null> {
  const { rows } = await queryOnce<{ until: string }>(pool, workerSettings(organizationId), {
    name: 'lease a webhook',
    text: `
      update app_hidden.webhook_positions
      set leased_until = statement_timestamp() + $3 * interval '1 millisecond'
      where organization_id = $1 and webhook_id = (
        select webhook_id from app_hidden.webhook_positions
        where organization_id = $1 and webhook_id = $2 and coalesce(leased_until <= statement_timestamp(), true)
        for update skip locked)
      returning leased_until::text as until`,
    values: [organizationId, id, leaseMs],
  });
  return rows[0]?.until ?? null;
}

/** Ends the lease now, unless it has ended and another worker has the webhook. */
export async function release(pool: Pool, { organizationId, id }: WebhookKey, until: string): Promise<void> {
  await queryOnce(pool, workerSettings(organizationId), {
    name: 'release a webhook',
    text: `
      update app_hidden.webhook_positions set leased_until = statement_timestamp()
      where organization_id = $1 and webhook_id = (
        select webhook_id from app_hidden.webhook_positions
        where organization_id = $1 and webhook_id = $2 and leased_until = $3::timestamptz
        for update skip locked)`,
    values: [organizationId, id, until],
  });
}

export type Webhook = WebhookKey & {
  readonly url: string;
  readonly typeNames: readonly string[] | null;
  /** The sealed secrets: the present one, and the previous one while it is valid. */
  readonly secrets: readonly Buffer[];
};

/** The present state of a webhook; null when it is disabled or deleted. */
export async function readWebhook(pool: Pool, key: WebhookKey): Promise<Webhook | null> {
  const { organizationId, id } = key;
  const { rows } = await queryOnce<WebhookRow>(pool, workerSettings(organizationId), {
    name: 'read a webhook',
    text: webhookNow,
    values: [organizationId, id],
  });
  return toWebhook(key, rows);
}

type WebhookRow = Omit<Webhook, keyof WebhookKey>;

const webhookNow = `
  select url, type_names as "typeNames", array_remove(array[
    secret_ciphertext, case when previous_valid_until > statement_timestamp() then previous_secret_ciphertext end], null) as secrets
  from app_public.webhooks
  where organization_id = $1 and id = $2 and enabled`;

const toWebhook = ({ organizationId, id }: WebhookKey, [row]: readonly WebhookRow[]): Webhook | null =>
  row ? { organizationId, id, ...row } : null;

/** A delivery that is due. */
export type DueDelivery = {
  readonly id: string;
  readonly attempts: number;
  /** Null when the change is no longer kept. */
  readonly row: (FeedRow & { readonly origin: string }) | null;
};

/**
 * The next deliveries, in the order of their changes; retries when they are due.
 * A delivery that a client is changing now is left for later.
 */
export async function readDue(pool: Pool, { organizationId, id }: WebhookKey): Promise<readonly DueDelivery[]> {
  const { rows } = await queryOnce<DueDelivery>(pool, workerSettings(organizationId), {
    name: 'due deliveries',
    text: `
      select d.id, d.attempts, app_public.webhook_deliveries_feed_row(d) as row
      from app_public.webhook_deliveries d
      where d.organization_id = $1 and d.webhook_id = $2 and d.outcome = 'PENDING' and d.next_attempt_at <= statement_timestamp()
      order by d.next_attempt_at, d.horizon, d.change_id
      limit 20
      for update of d skip locked`,
    values: [organizationId, id],
  });
  return rows;
}

/**
 * Adds deliveries of the feed's next changes, in one transaction with the position.
 *
 * @returns whether the end was not reached, or deliveries were added
 */
export function followFeed(pool: Pool, webhook: Webhook, naming: Naming): Promise<boolean> {
  const { organizationId, id, typeNames } = webhook;
  return inTransaction(pool, workerSettings(organizationId), async (client) => {
    const { rows } = await client.query<FeedPage>({
      name: 'follow the feed',
      text: `
        with place as materialized (
          select p.horizon, p.change_id, p.origin = feed.origin() as is_valid
          from app_hidden.webhook_positions p
          where p.organization_id = $1 and p.webhook_id = $2
          for update skip locked)
        select start.horizon, start.id::text, feed.origin()::text as origin,
          coalesce((select json_agg(c) from feed.changes_after(start.horizon, start.id, ${pageSize}) as c), '[]') as changes
        from place
        cross join lateral (
          select case when is_valid then place.horizon else '0' end as horizon, case when is_valid then place.change_id else 0 end as id) as start`,
      values: [organizationId, id],
    });
    const [page] = rows;
    // Deleted meanwhile, or about to be.
    if (!page) return false;
    const { origin, changes } = page;
    const wanted = changes.filter((row) => {
      return typeNames === null || typeNames.includes(naming.typeOf(row));
    });
    const isFull = changes.length === pageSize;
    const { horizon, id: changeId } = changes.at(-1) ?? page;
    await client.query({
      name: 'add deliveries',
      text: `
        with added as (
          insert into app_public.webhook_deliveries (organization_id, webhook_id, origin, horizon, change_id, changed_at)
          select $1, $2, $3, c.horizon, c.id, c.at
          from unnest($4::bigint[], $5::bigint[], $6::timestamptz[]) as c (horizon, id, at)
          on conflict on constraint webhook_deliveries_change_key do nothing)
        update app_hidden.webhook_positions set origin = $3, horizon = $7, change_id = $8, at = statement_timestamp()
        where organization_id = $1 and webhook_id = $2`,
      values: [
        organizationId,
        id,
        origin,
        wanted.map((row) => row.horizon),
        wanted.map((row) => row.id),
        wanted.map(({ at }) => at),
        horizon,
        changeId,
      ],
    });
    return isFull || wanted.length > 0;
  });
}

const pageSize = 100;

type FeedPage = {
  readonly horizon: string;
  readonly id: string;
  readonly origin: string;
  readonly changes: readonly FeedRow[];
};

/**
 * Records an attempt, and when the next one is due.
 * A next one more than three days after the first is not made: the delivery has failed, and is a dead letter.
 *
 * @returns the webhook as {@link readWebhook} does; null, too, if the delivery was deleted or sent again meanwhile
 */
export async function recordAttempt(
  pool: Pool,
  key: WebhookKey,
  delivery: Pick<DueDelivery, 'id' | 'attempts'>,
  { statusCode, error, isFinal, retryMs }: Attempt & { readonly isFinal: boolean; readonly retryMs: number },
): Promise<Webhook | null> {
  const { organizationId, id } = key;
  const { rows } = await queryOnce<WebhookRow>(pool, workerSettings(organizationId), {
    name: 'record an attempt',
    text: `
      with attempt as (
        select d.id, coalesce(d.first_attempt_at, statement_timestamp()) as first_at,
          statement_timestamp() + $7 * interval '1 millisecond' as next_at
        from app_public.webhook_deliveries d
        where d.organization_id = $1 and d.webhook_id = $2 and d.id = $3 and d.outcome = 'PENDING' and d.attempts = $4
        for update skip locked
      ), decided as (
        select a.*, case when $6::text is null then 'DELIVERED' when $8 or next_at > first_at + interval '3 days' then 'FAILED'
          else 'PENDING' end::app_public.delivery_outcome as outcome
        from attempt a
      ), recorded as (
      update app_public.webhook_deliveries d
      set attempts = d.attempts + 1, first_attempt_at = a.first_at, outcome = a.outcome,
        next_attempt_at = case when a.outcome = 'PENDING' then a.next_at end, status_code = $5, last_error = $6
      from decided a
      where d.organization_id = $1 and d.id = a.id
      returning d.id)
      ${webhookNow} and exists (select from recorded)`,
    values: [organizationId, id, delivery.id, delivery.attempts, statusCode, error, retryMs, isFinal],
  });
  return toWebhook(key, rows);
}

/**
 * Disables a webhook whose receiver has answered with the status 410.
 *
 * @returns whether it did; false if a client has changed the URL since, is changing the webhook now, or if the organization is being moved
 */
export async function disable(pool: Pool, { organizationId, id, url }: Webhook): Promise<boolean> {
  const statement = {
    name: 'disable a webhook',
    text: `
      update app_public.webhooks set enabled = false
      where organization_id = $1 and id = (
        select id from app_public.webhooks where organization_id = $1 and id = $2 and url = $3 for update skip locked)`,
    values: [organizationId, id, url],
  };
  try {
    const { rowCount } = await queryOnce(pool, workerSettings(organizationId), statement, requireOwnService);
    return rowCount === 1;
  } catch (error) {
    // The other database has the webhook now, and its own deliveries get the same 410.
    if (hasMoved(error)) return false;
    throw error;
  }
}

import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Naming } from '../../plugins/ChangeNamingPlugin.ts';
import { type Change, presentChange } from '../../plugins/ChangesPlugin.ts';
import { toChange } from '../../plugins/changeFeed.ts';
import { encodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import type { Secrets } from '../crypto/secrets.ts';
import { isUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import { repeat } from '../repeat.ts';
import {
  type DueDelivery,
  disable,
  findDue,
  followFeed,
  lease,
  readDue,
  readWebhook,
  recordAttempt,
  release,
  type Webhook,
  type WebhookKey,
} from './deliveries.ts';
import { type Attempt, type PostOptions, post } from './post.ts';

type WebhooksOptions = Omit<SendOptions, 'stopping' | 'abandoned'> & {
  /** Aborts to stop the sender. */
  readonly signal?: AbortSignal;
  readonly tickMs?: number;
  readonly abandonAfterMs?: number;
};

/**
 * Sends webhooks: polls each second for those that are due, and runs up to 100 of them at a time.
 * Writes enqueue nothing. A run mostly waits for its receiver, and lasts 20 s at most. The webhook whose last run ended first is run first,
 * so that dead receivers take turns with the others. Several processes share the work: each run leases its webhook. When a process is
 * killed, another one continues once the lease ends. A transaction pooler may be in front of the database, since no LISTEN or session state
 * is used. A copy of the database sends none.
 */
export function startWebhooks({ signal, tickMs = 1000, abandonAfterMs = 5000, ...options }: WebhooksOptions): {
  /** Whether the database was a copy when it was last asked. */
  isCopy(): boolean;
  stop(): Promise<void>;
} {
  const { pool, log } = options;
  const stopping = new AbortController();
  const abandoned = new AbortController();
  const running = new Set<Promise<void>>();
  let due: WebhookKey[] = [];
  let isCopy = false;
  const send: SendOptions = { ...options, stopping: stopping.signal, abandoned: abandoned.signal };
  const begin = () => {
    stopping.abort();
    setTimeout(() => abandoned.abort(), abandonAfterMs).unref();
  };
  signal?.addEventListener('abort', begin, { once: true });

  const run = async (key: WebhookKey): Promise<void> => {
    try {
      await sendWebhook(send, key);
    } catch (error) {
      if (!abandoned.signal.aborted)
        log[isUnavailable(error) ? 'debug' : 'warn']({ error }, 'could not send a webhook');
    }
  };
  const fillSlots = (): void => {
    while (running.size < maxRunning && !stopping.signal.aborted) {
      const key = due.shift();
      if (!key) return;
      const ended = run(key).then(() => {
        running.delete(ended);
        fillSlots();
      });
      running.add(ended);
    }
  };
  const poll = async () => {
    if (stopping.signal.aborted) return;
    try {
      const found = await findDue(pool);
      if (isCopy !== (found === null)) log[isCopy ? 'info' : 'warn'](isCopy ? 'sending webhooks' : copyNotice);
      isCopy = found === null;
      due = found ?? [];
      fillSlots();
    } catch (error) {
      const level = isUnavailable(error) ? 'debug' : 'warn';
      log[level]({ error }, 'could not look for webhooks to send; trying again');
    }
  };
  const polling = repeat(poll, tickMs);

  return {
    isCopy: () => isCopy,
    /** Waits for the running attempts, 5 s at most; longer ones are made again later. */
    async stop() {
      begin();
      await polling.stop();
      // Without a database their last statements fail late.
      await Promise.race([Promise.all(running), delay(abandonAfterMs + 2000, undefined, { ref: false })]);
    },
  };
}

/** The message for the operator of a copy. */
export const copyNotice =
  'This database is a copy of another, which sends the webhooks: none are sent from here until `npm run -s admin -- take-charge`.';

const maxRunning = 100;

type SendOptions = {
  readonly pool: Pool;
  readonly secrets: Pick<Secrets, 'openWebhookSecret' | 'cursorChecksum'>;
  readonly log: Log;
  /** The names of the schema, which may be swapped. */
  readonly naming: () => Naming;
  readonly allowsPrivate: boolean;
  /** How long a killed process keeps others off a webhook. A run may start attempts for a sixth of it. */
  readonly leaseMs?: number;
  /** Aborts when no further attempt may start. */
  readonly stopping: AbortSignal;
  /** Aborts the running attempt, which is made again later. */
  readonly abandoned: AbortSignal;
};

/**
 * One run for a webhook: sends what is due, one after the other, and follows the feed when nothing is.
 * It ends after a sixth of its lease (10 s), or with its first failed attempt, which takes at most 10 s. So a dead receiver occupies one
 * slot for that long, and then waits behind the others. While the run waits for the receiver it holds no database connection.
 */
async function sendWebhook(options: SendOptions, key: WebhookKey): Promise<void> {
  const { pool, stopping, leaseMs = 60_000 } = options;
  // Computed before the lease begins, since its answer may come late.
  const deadline = performance.now() + leaseMs / 6;
  const until = await lease(pool, key, leaseMs);
  if (until === null) return;
  const mayGoOn = () => !stopping.aborted && performance.now() < deadline;
  try {
    // Read again before each attempt, since clients rotate secrets and disable webhooks meanwhile.
    let webhook = await readWebhook(pool, key);
    for (let goesOn = true; goesOn && mayGoOn() && webhook; ) {
      const due = await readDue(pool, key);
      goesOn = due.length > 0 || (await followFeed(pool, webhook, options.naming()));
      for (const delivery of due) {
        webhook = mayGoOn() ? await attempt(options, webhook, delivery) : null;
        if (!webhook) return;
      }
    }
  } finally {
    await release(pool, key, until);
  }
}

/** @returns the present webhook; null at the end of the run, such as after the receiver has failed */
async function attempt(options: SendOptions, webhook: Webhook, delivery: DueDelivery): Promise<Webhook | null> {
  const { organizationId } = webhook;
  const { row } = delivery;
  const feedChange = row && toChange(row, { origin: row.origin, organizationId });
  const change = feedChange && presentChange(feedChange, options.naming(), options.secrets);
  const outcome = change ? await postChange(options, webhook, delivery, change) : gone;
  const isFinal = !change || (outcome.statusCode === 410 && (await disable(options.pool, webhook)));
  const retryMs = retryDelayMs(delivery.attempts + 1);
  const now = await recordAttempt(options.pool, webhook, delivery, { ...outcome, isFinal, retryMs });
  return outcome.error === null || !change ? now : null;
}

const gone: Attempt = { statusCode: null, error: 'The change is no longer kept.' };

async function postChange(
  options: SendOptions,
  webhook: Webhook,
  delivery: DueDelivery,
  change: Change,
): Promise<Attempt> {
  const secrets = openSecrets(options, webhook);
  if (!secrets) return unreadable;
  const body = bodyOfChange(change);
  const id = encodeNodeId(['WebhookDelivery', delivery.id]) ?? '';
  const { allowsPrivate, abandoned } = options;
  const postOptions: PostOptions = { allowsPrivate, signal: abandoned };
  return post(webhook.url, signatureHeaders(id, new Date(), body, secrets), body, postOptions);
}

const unreadable: Attempt = { statusCode: null, error: 'The secret cannot be opened any more; rotate it.' };

/** Null when a secret was sealed under a key that the process does not have. */
function openSecrets({ secrets, log }: SendOptions, { organizationId, id, secrets: sealed }: Webhook) {
  try {
    return sealed.map((ciphertext) => secrets.openWebhookSecret(ciphertext, { organizationId, webhookId: id }));
  } catch (error) {
    log.warn({ error, webhookId: id }, 'a webhook cannot be signed');
    return null;
  }
}

const pastTense: Readonly<Record<string, string>> = { CREATE: 'created', UPDATE: 'updated', DELETE: 'deleted' };

/**
 * The payload. Its first two fields are those that Standard Webhooks recommend: `user.updated`.
 * What refers to others names them, since a receiver cannot ask for an object that was deleted.
 */
function bodyOfChange({ operation, typeName, id, fields, relatedIds, cursor, at }: Change): string {
  const type = `${typeName.charAt(0).toLowerCase()}${typeName.slice(1)}.${pastTense[operation]}`;
  const related = relatedIds.length > 0 ? { relatedIds } : {};
  return JSON.stringify({ type, timestamp: at, data: { operation, typeName, id, fields, ...related, cursor } });
}

/**
 * The headers of a delivery (Standard Webhooks): an HMAC-SHA256 by each valid secret.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 *
 * @param id the same in each attempt, so that a receiver recognizes a repetition
 * @param secrets in the form for clients: `whsec_` and base64
 */
function signatureHeaders(id: string, at: Date, body: string, secrets: readonly string[]) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

const delays = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours];
const lastDelay = 10 * hours;

/**
 * The wait after the `attempts`th attempt, in milliseconds: exponential backoff with jitter.
 * It is 5 s, 5 min, 30 min, 2 h, 5 h, then 10 h each time. Jitter adds up to a fifth, so that the deliveries of an outage do not all return
 * at once.
 */
export const retryDelayMs = (attempts: number, random: () => number = Math.random): number =>
  (delays[attempts - 1] ?? lastDelay) * (1 + random() / 5);

import { setTimeout as delay } from 'node:timers/promises';
import { isUnavailable } from '../database/pool/unavailable.ts';
import { repeat } from '../repeat.ts';
import { findDue, type WebhookKey } from './deliveries.ts';
import { type SendOptions, sendWebhook } from './sendWebhook.ts';

export type WebhooksOptions = Omit<SendOptions, 'stopping' | 'abandoned'> & {
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

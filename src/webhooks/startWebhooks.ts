import { setTimeout as delay } from 'node:timers/promises';
import type { RunOnceOptions, TaskList } from 'graphile-worker';
import type { Pool, PoolClient, QueryConfig } from 'pg';
import { createWorkerLogger, workerSchema } from '../database/migrations/installWorker.ts';
import { isUnavailable } from '../database/pool/unavailable.ts';
import { workerSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import type { WebhookKey } from './deliveries.ts';
import { type SendOptions, sendWebhook } from './sendWebhook.ts';

export type WebhooksOptions = Pick<SendOptions, 'pool' | 'secrets' | 'naming' | 'allowsPrivate' | 'log'> & {
  /** Begins to stop. */
  readonly signal?: AbortSignal;
  readonly tickMs?: number;
  readonly abandonAfterMs?: number;
};

/**
 * Sends webhooks by jobs of graphile-worker, one for each webhook that has something to send.
 * Its id is the job's key. Writes enqueue nothing: a tick each second asks which webhooks these are. At most 100 jobs run in a process, since
 * each waits for its receiver nearly all of the time, and 20 s at most. Their order is that of graphile-worker, by when they were added, so
 * that dead receivers take turns with the others. No LISTEN and nothing of a session: a transaction pooler may stand in between. Of several
 * processes any takes a job, and the webhook's lease keeps others off; when a process is killed, that ends after a minute.
 */
export function startWebhooks({ signal, tickMs = 1000, abandonAfterMs = 5000, ...options }: WebhooksOptions): {
  stop(): Promise<void>;
} {
  const { pool, log } = options;
  const stopping = new AbortController();
  const abandoned = new AbortController();
  const running = new Set<Promise<unknown>>();
  const send: SendOptions = { ...options, stopping: stopping.signal, abandoned: abandoned.signal };
  const tasks: TaskList = {
    [taskName]: (payload) =>
      sendWebhook(send, payload as WebhookKey).catch((error: unknown) => {
        if (!abandoned.signal.aborted)
          log[isUnavailable(error) ? 'debug' : 'warn']({ error }, 'could not send a webhook');
      }),
  };
  const begin = () => {
    stopping.abort();
    setTimeout(() => abandoned.abort(), abandonAfterMs).unref();
  };
  signal?.addEventListener('abort', begin, { once: true });

  const tick = async (workerOptions: RunOnceOptions, runTaskListOnce: RunTaskListOnce) => {
    const due = await enqueue(pool);
    for (let count = Math.min(due, maxRunning - running.size); count > 0; count--) {
      // Takes jobs until there is none.
      const taking = runTaskListOnce(workerOptions, tasks, asWorker(send)).promise.catch((error: unknown) =>
        log.warn({ error }, 'could not take a job'),
      );
      const run = taking.finally(() => running.delete(run));
      running.add(run);
    }
  };
  const ticking = (async () => {
    const { Logger, runTaskListOnce } = await import('graphile-worker');
    const workerOptions: RunOnceOptions = {
      schema: workerSchema,
      noPreparedStatements: true,
      noHandleSignals: true,
      logger: createWorkerLogger(Logger, log),
    };
    await forgetAbandoned(pool).catch((error: unknown) =>
      log[isUnavailable(error) ? 'debug' : 'warn']({ error }, 'could not forget old jobs'),
    );
    while (!stopping.signal.aborted) {
      await tick(workerOptions, runTaskListOnce).catch((error: unknown) =>
        log[isUnavailable(error) ? 'debug' : 'warn']({ error }, 'could not look for webhooks to send; trying again'),
      );
      await delay(tickMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  })();

  return {
    /** Waits for the running attempts, 5 s at most: those that last longer are made again. */
    async stop() {
      begin();
      await ticking;
      // Without a database their last statements fail late.
      await Promise.race([Promise.all(running), delay(abandonAfterMs + 2000, undefined, { ref: false })]);
    },
  };
}

type RunTaskListOnce = typeof import('graphile-worker').runTaskListOnce;

const taskName = 'webhook';
const maxRunning = 100;

/** Adds a job for each webhook that is due; one that waits keeps its place. @returns how many are due */
async function enqueue(pool: Pool): Promise<number> {
  const { rows } = await queryOnce<{ due: number }>(pool, workerSettings(null), {
    name: 'enqueue webhooks',
    text: `
      select count(${workerSchema}.add_job(
        $1, json_build_object('organizationId', w.organization_id, 'id', w.webhook_id),
        job_key => w.webhook_id::text, job_key_mode => 'preserve_run_at', max_attempts => 1))::int as due
      from feed.due_webhooks(1000) as w`,
    values: [taskName],
  });
  return rows[0]?.due ?? 0;
}

/** Jobs of processes that were killed, which others have taken the key of. */
const forgetAbandoned = (pool: Pool) =>
  queryOnce(pool, workerSettings(null), {
    text: `
      select from ${workerSchema}.complete_jobs(
        array(select id from ${workerSchema}.jobs where key is null and locked_at is null))`,
  });

/**
 * A connection for graphile-worker: each statement is a transaction, and is retried until it succeeds.
 * When one fails, the library rejects promises that it handles nowhere, which would end the process. A job whose answer was lost is taken and
 * not begun, as one of a process that was killed.
 */
function asWorker({ pool, log, stopping }: SendOptions): PoolClient {
  const query = async (statement: string | QueryConfig, values?: unknown[]) => {
    const config = typeof statement === 'string' ? { text: statement, ...(values && { values }) } : statement;
    for (;;) {
      try {
        return await queryOnce(pool, workerSettings(null), config);
      } catch (error) {
        if (stopping.aborted) return { rows: [] };
        log[isUnavailable(error) ? 'debug' : 'warn']({ error }, 'a statement of the queue has failed; retrying');
        await delay(retryMs, undefined, { signal: stopping, ref: false }).catch(() => undefined);
      }
    }
  };
  return { query, release: () => undefined } as unknown as PoolClient;
}

const retryMs = 200;

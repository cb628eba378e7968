import type { Pool } from 'pg';
import type { Log } from '../../log.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { purgeExpired } from './purgeExpired.ts';

/**
 * Purges what has expired soon after the start, and then every hour.
 * As long as the process lives; of several processes at a time one does it. Logs what it deleted, and why it could not.
 */
export function startPurging(pool: Pool, log: Log, intervals = { firstMs: 60_000, everyMs: 3_600_000 }): Purging {
  const stopping = new AbortController();
  let running = Promise.resolve();
  const purge = async () => {
    try {
      const purged = await purgeExpired(
        (query) => queryOnce(pool, oauthSettings(null, noRequest), query),
        stopping.signal,
      );
      if (purged) log.info({ purged }, 'purged what has expired');
    } catch (error) {
      log.warn({ error }, 'could not purge what has expired; trying again later');
    }
  };
  const schedule = (afterMs: number) =>
    setTimeout(() => {
      running = purge();
      timer = schedule(intervals.everyMs);
    }, afterMs).unref();
  let timer = schedule(intervals.firstMs);

  return {
    stop: async () => {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

export type Purging = {
  /** Waits for the batch that is running. */
  stop(): Promise<void>;
};

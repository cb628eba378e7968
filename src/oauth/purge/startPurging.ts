import type { Pool } from 'pg';
import type { Log } from '../../log.ts';
import type { Metrics, PartitionState } from '../../observability/metrics/createMetrics.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { repeat } from '../../repeat.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { purgeExpired } from './purgeExpired.ts';

/**
 * Purges what has expired soon after the start, and then every hour, until the process stops.
 * If there are several processes, one purges at a time. It logs what it deleted, and why a purge failed.
 */
export function startPurging(
  pool: Pool,
  log: Log,
  metrics: Pick<Metrics, 'purged' | 'showPartitions'> | null,
  intervals = { firstMs: 60_000, everyMs: 3_600_000 },
) {
  const purge = async (signal: AbortSignal) => {
    try {
      const purged = await purgeExpired((query) => queryOnce(pool, oauthSettings(null, noRequest), query), signal);
      if (purged) {
        log.info({ purged }, 'purged what has expired');
        metrics?.purged.setToCurrentTime();
      }
    } catch (error) {
      log.warn({ error }, 'could not purge what has expired; trying again later');
    }
    if (!metrics) return;
    await queryOnce<PartitionState>(pool, oauthSettings(null, noRequest), readPartitions).then(
      ({ rows }) => metrics.showPartitions(rows),
      (error: unknown) => log.warn({ error }, 'the partitions cannot be read; trying again later'),
    );
  };
  return repeat(purge, intervals.everyMs, intervals.firstMs);
}

const readPartitions = {
  text: `
  select relation as "table", extract(epoch from since)::float8 as since, extract(epoch from until)::float8 as until,
    in_default::float8 as "inDefault"
  from oauth.partition_state()`,
};

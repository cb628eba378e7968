import type { Pool } from 'pg';
import { isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { repeat } from '../../repeat.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';

/**
 * Lag of the change feed: the age of the position up to which all changes are certain.
 * A transaction that stays open anywhere in the cluster holds the feed back. Other roles cannot see its age. So each second's transaction
 * ids are remembered until all below them have ended.
 */
export function watchFeedLag(pool: Pool, log: Log) {
  let samples: readonly Sample[] = [];

  const sample = async () => {
    const { rows } = await queryOnce<Snapshot>(pool, oauthSettings(null, noRequest), { text: readSnapshot });
    const { xmin = 0n, xmax = 0n } = Object.fromEntries(
      Object.entries(rows[0] ?? {}).map(([name, id]) => [name, BigInt(id)]),
    );
    const taken = [...samples, { at: performance.now(), xmax }];
    const certain = taken.findLastIndex((past) => past.xmax <= xmin);
    samples = taken.slice(Math.max(0, certain)).slice(-maxSamples);
  };
  const report = (error: unknown) => {
    if (!isUnavailable(error)) log.error({ error }, 'the lag of the change feed cannot be read');
  };
  const sampling = repeat(() => sample().catch(report), everyMs);

  return {
    /** In seconds. */
    get: () => ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0)) / 1000,
    stop: sampling.stop,
  };
}

type Sample = { readonly at: number; readonly xmax: bigint };
type Snapshot = { readonly xmin: string; readonly xmax: string };

const everyMs = 1000;
/** A day; what is older counts as a day. */
const maxSamples = 86_400;

const readSnapshot = `
  select pg_snapshot_xmin(now)::text as xmin, pg_snapshot_xmax(now)::text as xmax from pg_current_snapshot() as now`;

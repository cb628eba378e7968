import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { createPool, type EvictablePool, type PoolSettings } from '../database/pool/pools.ts';
import type { Log } from '../log.ts';
import { repeat } from '../repeat.ts';

export type Replica = ReturnType<typeof watchReplica>;

export type ServerName = 'primary' | 'replica';

/**
 * Probes a streaming replica once a second, for its health and its replication lag.
 * A load balancer may lead to several. Queries go to it while it answers within 2 s, is in recovery, and lags by at most 5 s. The log has
 * each change.
 */
export function watchReplica(url: string, primary: EvictablePool, config: PoolSettings, log: Log) {
  const pool = createReplicaPool(url, config, log);
  const probe = createProbe(url, primary);
  let problem: string | null = 'not probed yet';
  let minimumLsn: string | null = null;
  let invalidations = 0;
  const listeners = new Set<(server: ServerName) => void>([(server) => reconnect(server, { primary, replica: pool })]);
  const reportTrouble = (server: ServerName) => {
    for (const listener of listeners) listener(server);
  };
  const invalidate = () => {
    invalidations++;
    minimumLsn = null;
  };
  // After a lost connection, the primary may be one that lacks acknowledged changes.
  primary.on('connect', (client) => client.on('error', invalidate));

  const probeOnce = async () => {
    const invalidationsBefore = invalidations;
    const found = await probe();
    if (found.isOtherPrimary) {
      minimumLsn = null;
      reportTrouble('primary');
    }
    if (found.lsn && invalidations === invalidationsBefore) minimumLsn ??= found.lsn;
    if (found.problem === undefined || found.problem === problem) return;
    problem = found.problem;
    if (problem === null) return log.info('queries go to the replica');
    log.warn({ reason: problem, error: found.error }, 'queries go to the primary: the replica is stale or unavailable');
    if (found.error) reportTrouble('replica');
  };

  const probing = repeat(probeOnce, probeEveryMs);

  return {
    /** Connections to the replica as the authenticator. */
    pool,
    /** The LSN that the replica must have replayed for any query; null while it gets none. */
    required: () => (problem === null ? minimumLsn : null),
    /**
     * Stops queries to the replica until a probe has read a newer LSN of the primary.
     * The primary's catalogue has changed, or another server may be the primary. The replica must first replay everything up to now.
     */
    invalidate,
    /** Calls back when a server does not answer, or the primary has changed. @returns what unsubscribes */
    onTrouble(listener: (server: ServerName) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop(): Promise<void> {
      await probing.stop();
      // `end()` may hang if the server is gone.
      await Promise.race([Promise.all([probe.end(), pool.end()]), delay(1000, undefined, { ref: false })]);
    },
  };
}

/** Fails the replica's pending queries, for the primary to answer; evicts the primary's connections. */
export function reconnect(server: ServerName, pools: { primary: EvictablePool; replica: EvictablePool | null }): void {
  if (server === 'primary') pools.primary.evictAll();
  else pools.replica?.snapshotBytesRead()();
}

/** A query that gets no connection within 500 ms goes to the primary. */
export function createReplicaPool(url: string, config: PoolSettings, log: Log): EvictablePool {
  return createPool(url, { ...config, poolWaitMs: Math.min(config.poolWaitMs, maxWaitMs) }, log);
}

const probeEveryMs = 1000;
const probeTimeoutMs = 2000;
const maxWaitMs = 500;
const maxLagMs = 5000;

type ProbeResult = {
  /** Why the replica gets no query; null when it may get one, and undefined if this probe does not know. */
  readonly problem?: string | null;
  readonly error?: unknown;
  /** The primary's current LSN. */
  readonly lsn?: string;
  /** It was restarted, has failed over, or is read-only. */
  readonly isOtherPrimary?: boolean;
};

/**
 * Samples the replication lag, by comparing LSNs of two probes.
 * An idle primary writes no WAL, so `now() - pg_last_xact_replay_timestamp()` grows without lag. So each probe asks whether the replica has
 * reached the position that the primary had at an earlier probe.
 */
function createProbe(url: string, primary: Pool) {
  const timeouts = { connectionTimeoutMillis: probeTimeoutMs, query_timeout: probeTimeoutMs };
  const name = { application_name: 'graph-query-service replica' };
  const replica = new Pool({ connectionString: url, max: 1, ...timeouts, ...name });
  replica.on('error', () => undefined);
  /** The primary's flushed LSN, which it can send, and the time of the sample. */
  let lagSample: { readonly lsn: string; readonly at: number } | null = null;
  let startedAt: string | null = null;

  const compare = async (replayed: string | null): Promise<ProbeResult> => {
    const at = performance.now();
    const { rows } = await primary.query<Compared>(compareText, [replayed, lagSample?.lsn ?? null]);
    const [{ lsn, flushed, started_at, is_read_only, is_foreign, has_reached }] = rows as [Compared];
    const isOtherPrimary = is_read_only || (startedAt !== null && started_at !== startedAt);
    startedAt = started_at;
    if (lsn === null || flushed === null) {
      lagSample = null;
      return { isOtherPrimary };
    }
    const found = { lsn, isOtherPrimary };
    if (is_foreign) return { ...found, problem: 'it is ahead of the primary' };
    const lagMs = lagSample ? at - lagSample.at : null;
    if (lagSample === null || has_reached) lagSample = { lsn: flushed, at };
    if (lagMs === null) return found;
    if (lagMs > maxLagMs) return { ...found, problem: 'it is too far behind' };
    return has_reached ? { ...found, problem: null } : found;
  };

  /** The LSN that the server has replayed; null when it is no replica. */
  const readReplayedLsn = async (): Promise<string | null> => {
    const client = await replica.connect();
    let lsn: string | null = null;
    try {
      const { rows } = await client.query<{ lsn: string | null }>(replayedText);
      lsn = rows[0]?.lsn ?? null;
      return lsn;
    } finally {
      // After a failover the name leads to the new primary for a while, but an open connection would do so forever.
      client.release(lsn === null);
    }
  };

  /** Asks the primary in any case: without a replica, too, connections to one that was fenced off would go on reading there. */
  const probe = async (): Promise<ProbeResult> => {
    // Read before the primary, which is then ahead of it.
    const { replayed, ...found } = await readReplayedLsn().then(
      (lsn) => ({ replayed: lsn, ...(lsn === null && { problem: 'it is not in recovery' }) }),
      (error: unknown) => ({ replayed: null, problem: 'it does not answer', error }),
    );
    const compared = await compare(replayed).catch((): ProbeResult => ({}));
    if (replayed !== null && 'isOtherPrimary' in compared) return compared;
    lagSample = null;
    return { isOtherPrimary: compared.isOtherPrimary ?? false, ...found };
  };
  return Object.assign(probe, { end: () => replica.end() });
}

const replayedText = 'select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end::text as lsn';

type Compared = {
  lsn: string | null;
  flushed: string | null;
  started_at: string;
  is_read_only: boolean;
  is_foreign: boolean | null;
  has_reached: boolean | null;
};
const compareText = `
  select
    case when not pg_is_in_recovery() then pg_current_wal_insert_lsn() end::text as lsn,
    case when not pg_is_in_recovery() then pg_current_wal_flush_lsn() end::text as flushed,
    pg_postmaster_start_time()::text as started_at,
    current_setting('transaction_read_only')::bool as is_read_only,
    case when not pg_is_in_recovery() then $1::pg_lsn > pg_current_wal_insert_lsn() end as is_foreign,
    $1::pg_lsn >= $2::pg_lsn as has_reached`;

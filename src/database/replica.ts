import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import type { Log } from '../log.ts';
import { createPool, type PoolSettings, type RenewablePool } from './pools.ts';

export type Replica = {
  /** Connections to it as the authenticator. */
  readonly pool: RenewablePool;
  /** The LSN that it must have replayed, whoever asks; null while it is not to be asked at all. */
  required(): string | null;
  /**
   * The primary's catalogue is another, or the primary may be: whatever it had until now, the replica must have, too. Until that is
   * known it is not asked.
   */
  doubt(): void;
  /**
   * Calls back when connections to one of them are of no use any more: the replica does not answer, or the primary is another.
   *
   * @returns what ends that
   */
  onTrouble(listener: (server: ServerName) => void): () => void;
  stop(): Promise<void>;
};

export type ServerName = 'primary' | 'replica';

/** Where queries are answered when that does as well as the primary. */
export type ReplicaSettings = {
  readonly url: string;
  readonly primary: RenewablePool;
  readonly config: PoolSettings;
  readonly log: Log;
};

/**
 * Watches a streaming replica, or whichever of several a balancer gives: once a second it looks whether it answers within 2 s, is
 * still one, and is behind by no more than 5 s. Else it is left out, until it is well again; the log tells both.
 */
export function watchReplica({ url, primary, config, log }: ReplicaSettings): Replica {
  const pool = createReplicaPool(url, config, log);
  const look = createLook(url, primary);
  let problem: string | null = 'nobody has looked yet';
  let floor: string | null = null;
  let doubts = 0;
  const listeners = new Set<(server: ServerName) => void>([(server) => reconnect(server, { primary, replica: pool })]);
  const tellTrouble = (server: ServerName) => {
    for (const listener of listeners) listener(server);
  };
  const doubt = () => {
    doubts++;
    floor = null;
  };
  // Whether a primary that went away comes back with all that it had told, nobody knows.
  primary.on('connect', (client) => client.on('error', doubt));

  const lookOnce = async () => {
    const doubtsBefore = doubts;
    const found = await look();
    if (found.isOtherPrimary) {
      floor = null;
      tellTrouble('primary');
    }
    if (found.lsn && doubts === doubtsBefore) floor ??= found.lsn;
    if (found.problem === undefined || found.problem === problem) return;
    problem = found.problem;
    if (problem === null) return log.info('queries go to the replica');
    log.warn({ reason: problem, error: found.error }, 'queries go to the primary: the replica is not fit');
    if (found.error) tellTrouble('replica');
  };

  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      await lookOnce();
      await delay(lookEveryMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  })();

  return {
    pool,
    required: () => (problem === null ? floor : null),
    doubt,
    onTrouble(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
      stopping.abort();
      await watching;
      // Should it no longer answer, nobody waits for its goodbye.
      await Promise.race([Promise.all([look.end(), pool.end()]), delay(1000, undefined, { ref: false })]);
    },
  };
}

/** Whoever waits for the replica asks the primary instead; whoever asks the primary next does so on a new connection. */
export function reconnect(server: ServerName, pools: { primary: RenewablePool; replica: RenewablePool | null }): void {
  if (server === 'primary') pools.primary.renew();
  else pools.replica?.rememberSilence()();
}

/** Whoever gets no connection soon asks the primary, which does as well. */
export function createReplicaPool(url: string, config: PoolSettings, log: Log): RenewablePool {
  return createPool(url, { ...config, poolWaitMs: Math.min(config.poolWaitMs, mostWaitMs) }, log);
}

const lookEveryMs = 1000;
const patienceMs = 2000;
const mostWaitMs = 500;
const mostLagMs = 5000;

type Found = {
  /** What keeps the replica from being asked; null when nothing does, and undefined when this look could not tell. */
  readonly problem?: string | null;
  readonly error?: unknown;
  /** Where the primary's log is. */
  readonly lsn?: string;
  /** It was started anew, another took its place, or should have: it may not write. */
  readonly isOtherPrimary?: boolean;
};

/**
 * How far a replica is behind, no clock and no query tells, since an idle primary writes nothing that could be. So each look compares
 * it with where the primary was at an earlier one.
 */
function createLook(url: string, primary: Pool) {
  const timeouts = { connectionTimeoutMillis: patienceMs, query_timeout: patienceMs };
  const name = { application_name: 'graph-query-service replica' };
  const replica = new Pool({ connectionString: url, max: 1, ...timeouts, ...name });
  replica.on('error', () => undefined);
  /** How far the primary had sent, or would have, and when. */
  let milestone: { readonly lsn: string; readonly at: number } | null = null;
  let startedAt: string | null = null;

  const compare = async (replayed: string): Promise<Found> => {
    const at = performance.now();
    const { rows } = await primary.query<Compared>(compareText, [replayed, milestone?.lsn ?? null]);
    const [{ lsn, flushed, started_at, is_read_only, is_foreign, has_reached }] = rows as [Compared];
    const isOtherPrimary = is_read_only || (startedAt !== null && started_at !== startedAt);
    startedAt = started_at;
    if (lsn === null || flushed === null) {
      milestone = null;
      return { isOtherPrimary };
    }
    const found = { lsn, isOtherPrimary };
    if (is_foreign) return { ...found, problem: 'it is ahead of the primary' };
    const lagMs = milestone ? at - milestone.at : null;
    if (milestone === null || has_reached) milestone = { lsn: flushed, at };
    if (lagMs === null) return found;
    if (lagMs > mostLagMs) return { ...found, problem: 'it is too far behind' };
    return has_reached ? { ...found, problem: null } : found;
  };

  /** How far it has replayed the log; null when it is no replica. */
  const askReplica = async (): Promise<string | null> => {
    const client = await replica.connect();
    let lsn: string | null = null;
    try {
      const { rows } = await client.query<{ lsn: string | null }>(replayedText);
      lsn = rows[0]?.lsn ?? null;
      return lsn;
    } finally {
      // After a failover the name leads to the new primary for a while, and the connection would for ever.
      client.release(lsn === null);
    }
  };

  const look = async (): Promise<Found> => {
    let replayed: string | null;
    try {
      // Before the primary, which is ahead of it then.
      replayed = await askReplica();
    } catch (error) {
      milestone = null;
      return { problem: 'it does not answer', error };
    }
    if (replayed === null) return { problem: 'it is not in recovery' };
    return compare(replayed).catch(() => {
      milestone = null;
      return {};
    });
  };
  return Object.assign(look, { end: () => replica.end() });
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

import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseError, Pool } from 'pg';
import type { Precondition } from '../database/driver/driver.ts';
import { createPool, type EvictablePool, type PoolSettings } from '../database/pool/pools.ts';
import { isUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import type { RequestId } from '../observability/requestFields.ts';
import { repeat } from '../repeat.ts';
import {
  type AccessToken,
  claimColumns,
  claimSource,
  hashToken,
  isToken,
  type TokenVerifier,
  verifiedToken,
} from '../token/accessTokens.ts';
import { type Claims, oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';

interface Replica {
  /** Connections to the replica as the authenticator. */
  readonly pool: EvictablePool;
  /** The LSN that the replica must have replayed for any query; null while it gets none. */
  required(): string | null;
  /**
   * Stops queries to the replica until a probe has read a newer LSN of the primary.
   * The primary's catalogue has changed, or another server may be the primary. The replica must first replay everything up to now.
   */
  invalidate(): void;
  /** Calls back when a server does not answer, or the primary has changed. @returns what unsubscribes */
  onTrouble(listener: (server: ServerName) => void): () => void;
  stop(): Promise<void>;
}

export type ServerName = 'primary' | 'replica';

/**
 * Probes a streaming replica once a second, for its health and its replication lag.
 * A load balancer may lead to several. Queries go to it while it answers within 2 s, is in recovery, and lags by at most 5 s. The log has
 * each change.
 */
export function watchReplica(url: string, primary: EvictablePool, config: PoolSettings, log: Log): Replica {
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
    pool,
    required: () => (problem === null ? minimumLsn : null),
    invalidate,
    onTrouble(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async stop() {
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

// Read-your-writes on a replica, by a causal token: the LSN of a grant's last write, which the replica must have replayed.

/** Verifies tokens at the primary, so that revocations take effect at once; reads the grant's LSN, too. */
export function createReplicaTokenVerifier(pool: Pool, primary: Pool): TokenVerifier {
  return async (token, requestId) => {
    if (!isToken('access', token)) return null;
    const hash = hashToken(token);
    const { rows } = await queryOnce<Claims & { writtenLsn: string | null }>(primary, oauthSettings(null, requestId), {
      name: 'verify_writer',
      text: verifyText,
      values: [hash],
    });
    if (!rows[0]) return null;
    const { writtenLsn, ...claims } = rows[0];
    return { ...verifiedToken(pool, claims, hash, requestId), writtenLsn };
  };
}

const verifyText = `
  select ${claimColumns}, oauth.written_lsn(organization_id, grant_id)::text as "writtenLsn"
  from ${claimSource}`;

/**
 * Records the current LSN as that of the grant's last write. After it resolves, every server reads it.
 * Coalesces: for each grant one update runs, perhaps too early for a later write, and one more waits.
 */
function createWriteRecorder(primary: Pool) {
  const current = new Map<string, Promise<void>>();
  const next = new Map<string, Promise<void>>();

  const begin = (claims: Claims, requestId: RequestId): Promise<void> => {
    const { grantId } = claims;
    next.delete(grantId);
    const recorded = recordNow(primary, claims, requestId).finally(() => {
      if (current.get(grantId) === recorded) current.delete(grantId);
    });
    current.set(grantId, recorded);
    return recorded;
  };

  return (claims: Claims, requestId: RequestId): Promise<void> => {
    const { grantId } = claims;
    const underWay = current.get(grantId);
    if (!underWay) return begin(claims, requestId);
    const following = next.get(grantId) ?? underWay.catch(() => undefined).then(() => begin(claims, requestId));
    next.set(grantId, following);
    return following;
  };
}

async function recordNow(primary: Pool, claims: Claims, requestId: RequestId): Promise<void> {
  const statement = { name: 'note_write', text: recordText, values: [claims.grantId] };
  await queryOnce(primary, oauthSettings(claims.organizationId, requestId), statement, asyncCommit);
}

const recordText = 'update oauth.grants set written_lsn = pg_current_wal_insert_lsn() where id = $1';

/**
 * Asynchronous commit: visible at once. A crash may lose it, but then replicas must reach a newer LSN.
 * Nothing is recorded for an organization that is not served here: another database has its grants then.
 */
const asyncCommit: Precondition = {
  name: 'async_commit',
  isPinned: true,
  text: "select set_config('synchronous_commit', 'off', true), app_hidden.require_service(app_hidden.current_organization_id())",
  values: [],
};

/** Minimum LSNs of a replica: one for all clients, and one for the client's own writes. */
export type RequiredLsns = readonly [all: string, writer: string];

/** Read-your-writes: a query goes to the replica only if that has the client's own writes. */
export interface ReplicaQueries {
  /** Connections to the replica as the authenticator. */
  readonly pool: Pool;
  /** Records a write of the token's grant. It resolves when each process answers this grant only from replicas that have the change. */
  afterWrite(token: AccessToken, requestId: RequestId): Promise<void>;
  /** Null when only the primary may answer. */
  requiredLsns(token: AccessToken, requestId: RequestId): RequiredLsns | null;
}

export function createReplicaQueries(replica: Replica, primary: Pool, log: Log): ReplicaQueries {
  const recordWriteLsn = createWriteRecorder(primary);

  const afterWrite = async ({ claims }: AccessToken, requestId: RequestId) => {
    try {
      await recordWriteLsn(claims, requestId);
    } catch (error) {
      replica.invalidate();
      const level = isUnavailable(error) ? 'debug' : 'error';
      log[level]({ requestId, error }, 'write LSN not recorded, replica disabled until caught up');
    }
  };

  return {
    pool: replica.pool,
    afterWrite,
    requiredLsns(token, requestId) {
      const { writtenLsn } = token;
      const all = replica.required();
      if (all === null) return null;
      if (writtenLsn) return [all, writtenLsn];
      // The grant is new, and its client may know everything that was committed when it was issued.
      void afterWrite(token, requestId);
      return null;
    },
  };
}

/** The replica's results are discarded, and the primary answers instead. */
export class ReplicaUnusableError extends Error {
  override name = 'ReplicaUnusableError';
}

/** Runs before each transaction on a replica, and before its snapshot is taken. */
export const requireReplayed = (lsns: RequiredLsns): Precondition => ({
  name: 'require_replayed',
  isPinned: true,
  text: 'select app_hidden.require_replayed(greatest($1::pg_lsn, $2::pg_lsn))',
  values: lsns,
});

/** Whether a statement that failed on a replica may succeed on the primary. */
export function isRetryableOnPrimary(error: unknown): boolean {
  return !(error instanceof DatabaseError && failsOnAnyServer.test(error.code ?? ''));
}

/** SQLSTATEs caused by a value, a privilege or a limit; see `presentError`. */
const failsOnAnyServer = /^(22...|23...|42501|54000|57014|P0002)$/;

import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Config } from './config.ts';
import { createPool, type RenewablePool } from './database/pools.ts';
import { watchDatabase } from './database/readiness.ts';
import { type Replica, watchReplica } from './database/replica.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/createMetrics.ts';

export type Connections = {
  /** To the primary. */
  readonly pool: RenewablePool;
  /** Null when all is asked of the primary. */
  readonly replica: Replica | null;
  /** Why the database cannot be used now; null when it can. */
  readonly readiness: () => Promise<string | null>;
};

/** The connections of this process, watched and measured; they are given back with `resources`. */
export function openConnections(
  { config, authUrl, metrics, log }: { config: Config; authUrl: string; metrics: Metrics; log: Log },
  resources: AsyncDisposableStack,
): Connections {
  const pool = createPool(authUrl, config, log);
  metrics.watchThread('main', () => ({ pool: stateOf(pool) }));
  // A statement that outlives the drain ends with its own timeout, not with ours.
  resources.defer(() => Promise.race([pool.end(), delay(2000, undefined, { ref: false })]));

  const { readiness, stop } = watchDatabase({ pool, authUrl, poolWaitMs: config.poolWaitMs, log });
  resources.defer(stop);
  const replica = config.replicaUrl ? openReplica(config.replicaUrl, pool, { config, metrics, log }) : null;
  if (replica) resources.defer(replica.stop);
  return { pool, replica, readiness };
}

function openReplica(
  url: string,
  primary: RenewablePool,
  { config, metrics, log }: { config: Config; metrics: Metrics; log: Log },
): Replica {
  const replica = watchReplica({ url, primary, config, log });
  metrics.watchThread('main, replica', () => ({ pool: stateOf(replica.pool) }));
  metrics.watchReplica(() => replica.required() !== null);
  return replica;
}

const stateOf = ({ totalCount: size, idleCount: idle, waitingCount: waiting }: Pool) => ({ size, idle, waiting });

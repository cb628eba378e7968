import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import { createPool } from '../database/pool/pools.ts';
import { watchDatabase } from '../database/pool/readiness.ts';
import { type Login, loginsOf, type ServerLogins } from '../database/roles/authenticator.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../observability/metrics/createMetrics.ts';
import { stateOf } from '../observability/metrics/stateOf.ts';
import { watchReplica } from '../replica/watchReplica.ts';
import type { Resources } from './resources.ts';

export type Connections = ReturnType<typeof openConnections>;

/** Opens the connections of this process, with probes and metrics; they are closed with `resources`. */
export function openConnections(
  { config, logins, metrics, log }: { config: Config; logins: ServerLogins; metrics: Metrics; log: Log },
  resources: Resources,
) {
  const open = (login: Login, thread: string) => {
    const pool = createPool(login.url, config, log);
    metrics.watchThread(thread, () => ({ pool: stateOf(pool) }));
    // A statement that outlives the drain ends by its own timeout.
    resources.defer(() => Promise.race([pool.end(), delay(500, undefined, { ref: false })]));
    const { readiness, stop } = watchDatabase({ pool, login, poolWaitMs: config.poolWaitMs, log });
    resources.defer(stop);
    return { pool, readiness };
  };
  const { graphql, oauth: oauthLogin } = loginsOf(logins);
  const { pool, readiness } = open(graphql, 'main');
  const oauth = oauthLogin && open(oauthLogin, 'main, OAuth');
  const replica = config.replicaUrl ? watchReplica(config.replicaUrl, pool, config, log) : null;
  if (replica) {
    metrics.watchThread('main, replica', () => ({ pool: stateOf(replica.pool) }));
    metrics.watchReplica(() => replica.required() !== null);
    resources.defer(replica.stop);
  }
  if (replica && oauth) {
    oauth.pool.on('connect', (client) => client.on('error', replica.invalidate));
    replica.onTrouble((server) => server === 'primary' && oauth.pool.evictAll());
  }
  const reasons = async () => (await Promise.all([readiness(), oauth?.readiness()])).find(Boolean) ?? null;
  return {
    /** To the primary, as the authenticator. */
    pool,
    /** To the primary, for the OAuth server and token verification; the same pool without its own login. */
    oauthPool: oauth?.pool ?? pool,
    /** Null when every query goes to the primary. */
    replica,
    /** Why the database is not ready; null when it is. */
    readiness: reasons,
  };
}

import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import type { Log } from '../../log.ts';
import type { Graph } from '../schema/schema.ts';

export type ExecutionOptions = {
  config: Pick<Config, 'limits' | 'slowMs' | 'webhookPrivateAddresses'>;
  pool: Pool;
  /** The connections to the replica, if there is one. */
  replicaPool: Pool | null;
  secrets: Secrets;
  graph: Graph;
  log: Log;
};

import { type RequestHandler, Router } from 'express';
import type { Pool } from 'pg';
import { encodeNodeId } from '../plugins/NodeIdPlugin.ts';
import type { Config } from './config.ts';
import { createEndpoint } from './graphql/endpoint.ts';
import { createOffload } from './graphql/offload.ts';
import { buildGraph } from './graphql/schema.ts';
import type { Log } from './log.ts';
import { createOauthRouter } from './oauth/router.ts';
import { startPurging } from './oauth/startPurging.ts';
import { createSecrets } from './secrets.ts';
import type { DemoAccess } from './tools/demo.ts';
import { createToolsRouter } from './tools/router.ts';

/** What the parts of the service are built from; each takes what it needs. */
export type PartsContext = {
  config: Config;
  /** The specification's `{base_url}`. */
  url: string;
  /** Connections as the authenticator. */
  pool: Pool;
  /** How to connect as the authenticator. */
  authUrl: string;
  /** SECRET_KEY, then SECRET_KEY_PREVIOUS if there is one; 32 bytes each. */
  keys: readonly [Buffer, ...Buffer[]];
  /** Null without the demo organization. */
  demo: DemoAccess | null;
  log: Log;
};

/** Everything that answers requests, in request order; the database answers and is migrated by now. */
export async function createParts(context: PartsContext): Promise<Parts> {
  const { config, pool, authUrl, keys, log } = context;
  const secrets = createSecrets(keys);
  const graph = await buildGraph(pool);
  const offload = createOffload({ config, authUrl, keys }, log);
  const mounts = [
    // A client knows a user by the id that the graph shows.
    createOauthRouter({ ...context, secrets, userIdOf: (uuid) => encodeNodeId(['User', uuid]) ?? uuid }),
    await createToolsRouter({ ...context, schema: graph.schema }),
    Router().use('/graphql', createEndpoint({ config, pool, secrets, graph, offload, log })),
  ];
  const purging = startPurging(pool, log);
  return {
    mounts,
    stop: async () => {
      await purging.stop();
      await offload.stop();
      await graph.release();
    },
  };
}

export type Parts = { mounts: RequestHandler[]; stop(): Promise<void> };

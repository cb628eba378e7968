import type { RequestListener } from 'node:http';
import type { RequestHandler } from 'express';
import type { GraphQLSchema } from 'postgraphile/graphql';
import { encodeNodeId } from '../plugins/NodeIdPlugin.ts';
import type { Config } from './config.ts';
import type { RenewablePool } from './database/pools.ts';
import type { Replica } from './database/replica.ts';
import { readMigrations, watchMigrations } from './database/watchMigrations.ts';
import { createEndpoint } from './graphql/endpoint.ts';
import { mayFuse } from './graphql/mayFuse.ts';
import { createOffload } from './graphql/offload.ts';
import { buildGraph } from './graphql/schema.ts';
import type { StoredOperations } from './graphql/storedOperations.ts';
import { warmUp } from './graphql/warmUp.ts';
import { createHotSwap, type SchemaGeneration } from './http/hotSwap.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/createMetrics.ts';
import { createOauthRouter } from './oauth/router.ts';
import { startPurging } from './oauth/startPurging.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import type { DemoAccess } from './tools/demo.ts';
import { createToolsRouter } from './tools/router.ts';

/** What the parts of the service are built from; each takes what it needs. */
export type PartsContext = {
  config: Config;
  /** The specification's `{base_url}`. */
  url: string;
  /** Connections as the authenticator. */
  pool: RenewablePool;
  /** The OAuth server's, which look tokens up, too. */
  oauthPool: RenewablePool;
  /** Null when all is asked of the primary. */
  replica: Replica | null;
  /** How to connect as the authenticator. */
  authUrl: string;
  /** SECRET_KEY, then SECRET_KEY_PREVIOUS if there is one; 32 bytes each. */
  keys: readonly [Buffer, ...Buffer[]];
  /** The only documents that are answered; null for any. */
  operations: StoredOperations | null;
  /** Null without the demo organization. */
  demo: DemoAccess | null;
  /** Gives the database what a start would give it, when it has other migrations or was made anew. */
  prepare: () => Promise<void>;
  metrics: Metrics;
  /** Whether the graph is tried before it answers, which takes part of a second. */
  isWarmedUp: boolean;
  log: Log;
};

/** Everything that answers requests, in request order; the database answers and is migrated by now. */
export async function createParts(context: PartsContext): Promise<Parts> {
  const { pool, oauthPool, authUrl, keys, log } = context;
  const secrets = createSecrets(keys);
  // Before the graph is built: what comes later is noticed.
  const seen = await readMigrations(pool);
  const first = await createEdition(context, secrets);
  const hotSwap = createHotSwap(first, (error) => log.error({ error }, 'an old graph was not released'));
  // A client knows a user by the id that the graph shows.
  const userIdOf = (uuid: string) => encodeNodeId(['User', uuid]) ?? uuid;
  const onThrottled = (limit: string) => context.metrics.throttled.inc({ limit });
  const oauth = createOauthRouter({ ...context, pool: oauthPool, secrets, userIdOf, onThrottled });
  const purging = startPurging(oauthPool, log);

  let { schema } = first;
  let turn: Promise<unknown> = Promise.resolve();
  const exchangeEdition = async (): Promise<SchemaChange> => {
    const next = await createEdition(context, secrets);
    hotSwap.swap(next);
    pool.renew();
    oauthPool.renew();
    const before = schema;
    schema = next.schema;
    return { before, after: schema };
  };
  const reload = () => {
    // One after the other: whoever asks later gets what the database has later.
    const change = turn.then(exchangeEdition);
    turn = change.catch(() => undefined);
    return change;
  };
  const watching = watchMigrations({ authUrl, seen, log }, async () => {
    await context.prepare();
    await reload();
  });

  return {
    graphql: hotSwap.graphql,
    mounts: [oauth, hotSwap.pages],
    reload,
    async stop() {
      await watching.stop();
      await turn;
      await purging.stop();
      await hotSwap.stop();
    },
  };
}

export type Parts = {
  /** Answers `/graphql`. */
  graphql: RequestListener;
  /** What answers everything else, in request order. */
  mounts: RequestHandler[];
  /**
   * Builds the graph anew from what the database has now. New requests go to it as soon as it is whole; those in flight finish
   * on the old one. Should it fail, the old one stays.
   */
  reload(): Promise<SchemaChange>;
  stop(): Promise<void>;
};

export type SchemaChange = { readonly before: GraphQLSchema; readonly after: GraphQLSchema };

/** What follows from one state of the database's catalogue: the graph, its second thread, and the pages that show it. */
async function createEdition(
  context: PartsContext,
  secrets: Secrets,
): Promise<SchemaGeneration & { readonly schema: GraphQLSchema }> {
  const { config, pool, oauthPool, replica, authUrl, keys, operations, log } = context;
  const graph = await buildGraph(pool, { isFused: mayFuse(config, log), maxBytes: config.limits.bytes });
  const { schema } = graph;
  const offload = createOffload({ config, authUrl, keys }, log);
  context.metrics.watchThread('second', offload.state);
  const forget = replica?.onTrouble(offload.reconnect);
  const release = async () => {
    forget?.();
    await offload.stop();
    await graph.release();
  };
  try {
    const graphql = createEndpoint({ config, pool, oauthPool, replica, secrets, graph, operations, offload, log });
    // What is asked now is asked of tables and columns that it may not have yet.
    replica?.doubt();
    const pages = await createToolsRouter({ ...context, pool: oauthPool, schema });
    if (context.isWarmedUp) await warmUp({ config, pool, replicaPool: null, secrets, graph, log });
    return { schema, graphql, pages, release };
  } catch (error) {
    await release();
    throw error;
  }
}

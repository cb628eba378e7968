import type { RequestListener, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Naming } from '../../plugins/ChangeNamingPlugin.ts';
import { encodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { createAuthzenEndpoints, createMetadataRouter } from '../authzen/endpoint.ts';
import type { Config } from '../config.ts';
import { createSecrets, type Secrets } from '../crypto/secrets.ts';
import { readAhead } from '../database/migrations/committedMigrations.ts';
import { readMigrations, watchMigrations } from '../database/migrations/watchMigrations.ts';
import { fullDiskNotice } from '../database/pool/unavailable.ts';
import type { StoredOperations } from '../graphql/document/persisted.ts';
import { createEndpoint } from '../graphql/endpoint.ts';
import { OffloadThread } from '../graphql/offload/OffloadThread.ts';
import { compilationOptions } from '../graphql/schema/preset.ts';
import { buildGraph } from '../graphql/schema/schema.ts';
import { warmUp } from '../graphql/schema/warmUp.ts';
import { watchFeedLag } from '../graphql/stream/feed.ts';
import { inOrder } from '../http/middleware.ts';
import type { Log } from '../log.ts';
import { startPurging } from '../oauth/purge.ts';
import { createOauthRouter } from '../oauth/router.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { DemoAccess } from '../pages/demo.ts';
import { basePathOf } from '../pages/page.ts';
import { createPagesRouter, redirectBrowsers } from '../pages/router.ts';
import type { WithOwner } from '../pages/why/createWhyRouter.ts';
import { createReplicaQueries, createReplicaTokenVerifier, type ReplicaQueries } from '../replica/watchReplica.ts';
import { createTokenVerifier, type TokenVerifier } from '../token/accessTokens.ts';
import { startRecordingUsage } from '../token/transaction.ts';
import { copyNotice, startWebhooks } from '../webhooks/startWebhooks.ts';
import { type Connections, requireSecretKey } from './openConnections.ts';

/** The dependencies of everything that serves requests; each factory takes the ones that it needs. */
type AppDependencies = Omit<Connections, 'readiness'> & {
  config: Config;
  /** The specification's `{base_url}`. */
  url: string;
  /** The URL for connections as the authenticator. */
  authUrl: string;
  /** SECRET_KEY, then SECRET_KEY_PREVIOUS if there is one; 32 bytes each. */
  keys: readonly [Buffer, ...Buffer[]];
  /** The only documents that are answered; null for any. */
  operations: StoredOperations | null;
  /** Null without the demo organization. */
  demo: DemoAccess | null;
  /** Null except for developers, on the embedded database. */
  withOwner: WithOwner | null;
  /** Prepares the database as at a start, after other migrations or when it was created again. */
  prepare: () => Promise<void>;
  metrics: Metrics;
  /** Whether the graph is warmed up before it serves, which takes part of a second. */
  warmsUp: boolean;
  log: Log;
  /** Aborted when the service begins to stop. */
  stopping: AbortSignal;
};

/** What the graph and AuthZEN share, so that they cache a token's claims once. */
type TokenDependencies = { readonly verifyToken: TokenVerifier; readonly replicaQueries: ReplicaQueries | null };

function createTokenDependencies({ pool, oauthPool, replica, log }: AppDependencies): TokenDependencies {
  if (!replica) return { verifyToken: createTokenVerifier({ pool, oauthPool }), replicaQueries: null };
  return {
    verifyToken: createReplicaTokenVerifier(pool, oauthPool),
    replicaQueries: createReplicaQueries(replica, oauthPool, log),
  };
}

/**
 * The composition root: builds all that serves requests. The database is already migrated.
 *
 * @throws {ConfigError} when the database is sealed under another SECRET_KEY
 */
export async function composeApp(dependencies: AppDependencies) {
  const context = { ...dependencies, ...createTokenDependencies(dependencies) };
  const { config, url, pool, oauthPool, authUrl, keys, log } = context;
  const secrets = createSecrets(keys);
  // Read before the graph is built, so that later migrations are noticed.
  const [seen] = await Promise.all([readMigrations(pool), requireSecretKey(oauthPool, keys)]);
  const first = await createGeneration(context, secrets);
  const hotSwap = createHotSwap(first, (error) => log.error({ error }, 'an old graph was not released'));
  const onThrottled = (limit: string) => context.metrics.throttled.inc({ limit });
  const oauth = createOauthRouter({ ...context, pool: oauthPool, secrets, userIdOf, onThrottled });
  const purging = startPurging(oauthPool, log, config.metricsPort === undefined ? null : context.metrics);
  const recordingUses = startRecordingUsage(oauthPool, log);
  const feedLag = config.metricsPort === undefined ? null : watchFeedLag(oauthPool, log);
  if (feedLag) context.metrics.watchFeedLag(feedLag.get);

  let { schema, ahead } = first;
  const webhooks = sendWebhooks(context, secrets, () => schema.extensions.changeNaming);
  const swapGeneration = async (): Promise<SchemaChange> => {
    const next = await createGeneration(context, secrets);
    hotSwap.swap(next);
    pool.evictAll();
    oauthPool.evictAll();
    const before = schema;
    ({ schema, ahead } = next);
    return { before, after: schema };
  };
  // One reload at a time, so that each sees the newest migration.
  const reloads = serialized(swapGeneration);
  const watching = watchMigrations({ authUrl, seen, log }, async () => {
    await context.prepare();
    await reloads.run();
  });

  return {
    /** The listeners of the most frequent routes. */
    direct: directRoutes(context, hotSwap.graphql),
    /** The handlers of everything else, in request order. */
    mounts: [createMetadataRouter(url), oauth, hotSwap.pages],
    /** Hot swap: builds the graph from the database's present catalogue. If that fails, the old one stays. */
    reload: reloads.run,
    /** A message for the operator of a service that is ready; null when there is none. */
    notice: () => fullDiskNotice(log) ?? (webhooks?.isCopy() ? copyNotice : ahead),
    /** Completes the open streams, and refuses new ones. */
    endStreams: hotSwap.endStreams,
    async stop(): Promise<void> {
      await watching.stop();
      await reloads.ended();
      await webhooks?.stop();
      await purging.stop();
      await feedLag?.stop();
      await hotSwap.stop();
      await recordingUses.stop();
    },
  };
}

/** Clients identify a user by the graph's id. */
const userIdOf = (uuid: string) => encodeNodeId(['User', uuid]) ?? uuid;

const directRoutes = (context: AppDependencies & TokenDependencies, graphql: RequestListener) => ({
  '/graphql': inOrder([
    redirectBrowsers(context.config.explorers ? `${basePathOf(context.url)}/graphiql` : null),
    graphql,
  ]),
  ...createAuthzenEndpoints({ ...context, replica: context.replicaQueries }),
});

export type ComposedApp = Awaited<ReturnType<typeof composeApp>>;

export type SchemaChange = { readonly before: GraphQLSchema; readonly after: GraphQLSchema };

/** @returns null where this process sends none */
function sendWebhooks(
  { config, oauthPool: pool, metrics, log, stopping }: AppDependencies,
  secrets: Secrets,
  naming: () => Naming,
) {
  if (!config.webhooks || !config.webhookWorker) return null;
  const webhooks = startWebhooks({
    pool,
    secrets,
    naming,
    allowsPrivate: config.webhookPrivateAddresses,
    log,
    signal: stopping,
  });
  metrics.watchWebhooks(() => !webhooks.isCopy());
  return webhooks;
}

/** Serializes the runs of one task. */
function serialized<Result>(task: () => Promise<Result>) {
  let last: Promise<unknown> = Promise.resolve();
  return {
    run(): Promise<Result> {
      const result = last.then(task);
      last = result.catch(() => undefined);
      return result;
    },
    ended: () => last,
  };
}

/** Builds all that depends on the state of the catalogue: the graph, its offload thread, and its pages. */
async function createGeneration(
  context: AppDependencies & TokenDependencies,
  secrets: Secrets,
): Promise<SchemaGeneration & { readonly schema: GraphQLSchema; readonly ahead: string | null }> {
  const { config, pool, oauthPool, replica, replicaQueries, verifyToken, authUrl, keys, operations, log } = context;
  const ahead = await readAhead(pool);
  if (ahead !== null) log.warn({ reason: ahead }, 'the database is newer than this version');
  const showCompiling = (isCompiling: boolean) => context.metrics.compilation.set(Number(isCompiling));
  const graph = await buildGraph(pool, compilationOptions(config, log, showCompiling));
  const { schema } = graph;
  const offload = new OffloadThread({ config, authUrl, keys }, log);
  context.metrics.watchThread('offload', () => offload.state);
  const unsubscribe = replica?.onTrouble((server) => offload.reconnect(server));
  const release = async () => {
    unsubscribe?.();
    await offload.stop();
    await graph.release();
  };
  try {
    const { graphql, endStreams } = createEndpoint({
      config,
      pool,
      oauthPool,
      verifyToken,
      replica: replicaQueries,
      secrets,
      graph,
      operations,
      offload,
      log,
    });
    // The replica may lack the new tables and columns.
    replica?.invalidate();
    const pages = await createPagesRouter({ ...context, pool: oauthPool, schema });
    if (context.warmsUp) await warmUp({ config, pool, replicaPool: null, secrets, graph, log });
    return { schema, ahead, graphql, pages, endStreams, release };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Everything built from one schema, until the next generation replaces it. */
type SchemaGeneration = {
  /** Answers `/graphql`. */
  readonly graphql: RequestListener;
  /** Answers the pages about it, or passes the request on. */
  readonly pages: RequestHandler;
  /** Completes its streams, which would not end by themselves. */
  endStreams(): void;
  /** Frees what only this generation needed; called when its last request has ended. */
  release(): Promise<void>;
};

/**
 * Blue/green hot swap of the schema with request draining: no request is dropped.
 *
 * @param onFailure is called when a release fails; that of an earlier generation is not awaited
 */
function createHotSwap(first: SchemaGeneration, onFailure: (error: unknown) => void) {
  // Requests in flight are counted, and one more until it is retired: a Set of requests here kept old requests alive (bench peers).
  const serve = (generation: SchemaGeneration) => ({
    ...generation,
    drained: Promise.withResolvers<void>(),
    inFlight: 1,
  });
  let current = serve(first);
  let released: Promise<unknown> = Promise.resolve();

  const enter = (response: ServerResponse) => {
    const entered = current;
    entered.inFlight++;
    // Happens once, whether the answer was sent or the client disconnected.
    response.once('close', () => leave(entered));
    return entered;
  };
  const leave = (generation: typeof current) => {
    if (--generation.inFlight === 0) generation.drained.resolve();
  };
  const drain = async (generation: typeof current) => {
    generation.endStreams();
    leave(generation);
    await generation.drained.promise;
    await generation.release();
  };
  const retire = () => {
    const earlier = released;
    released = drain(current)
      .catch(onFailure)
      .then(() => earlier);
  };

  return {
    graphql: ((request, response) => enter(response).graphql(request, response)) satisfies RequestListener,
    pages: ((request, response, next) => enter(response).pages(request, response, next)) satisfies RequestHandler,
    endStreams: () => current.endStreams(),
    /** New requests go to `next`; those in flight finish on the generation that they started with. */
    swap(next: SchemaGeneration): void {
      retire();
      current = serve(next);
    },
    /** Resolves when every generation has been released, the last one included. */
    async stop(): Promise<void> {
      retire();
      await released;
    },
  };
}

import cluster from 'node:cluster';
import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { createPool, type RenewablePool } from './database/pools.ts';
import { watchDatabase } from './database/readiness.ts';
import { type Replica, watchReplica } from './database/replica.ts';
import { readStoredOperations } from './graphql/storedOperations.ts';
import { createAdmission } from './http/admission.ts';
import { isHealthCheck } from './http/health.ts';
import { type HttpServer, listen } from './http/server.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics/createMetrics.ts';
import { measureRequests } from './metrics/measureRequests.ts';
import { showMetrics } from './metrics/showMetrics.ts';
import { lockEmbedded, openServerDatabase } from './openServerDatabase.ts';
import { createParts, type Parts, type SchemaChange } from './parts.ts';
import { secretKeys } from './secretKey.ts';
import type { Started } from './startLines.ts';
import { StartupError } from './startupError.ts';
import type { DemoAccess } from './tools/demo.ts';

export type Service = Started & {
  /**
   * Shows what the database's catalogue has become, without a restart and without dropping a request; null while nothing
   * is built that could be exchanged.
   *
   * @throws when the schema cannot be built; the old one goes on serving
   */
  reload(): Promise<SchemaChange | null>;
  /** Resolves when requests are served: later than the service has started if its database is away or behind. */
  readonly serving: Promise<void>;
  /** Where `/metrics` is; null when this process does not show them itself. */
  readonly metricsPort: number | null;
  /**
   * Finishes what is in flight (at most 10 s), then gives everything back.
   *
   * @param lingerMs how long whoever comes is still answered, and told that it is stopping; 0 unless said
   */
  stop(lingerMs?: number): Promise<void>;
};

export type StartOptions = {
  /** Called when the database is there, before anything is built from it; with the owner's URL of the embedded one. */
  readonly prepare?: (embeddedOwnerUrl: string | undefined) => Promise<void>;
  /** What opens the demo organization of an embedded database that another process has started. */
  readonly demo?: DemoAccess | null;
  /** Listens only when requests can be served: until then others do on the same port. */
  readonly listenWhenServing?: boolean;
  /** Tries the graph before it answers, so that the first clients are answered as fast as later ones. */
  readonly isWarmedUp?: boolean;
};

/**
 * Starts everything that the configuration asks for; resolves when requests can be served. With a database of one's own
 * that is away or behind it resolves too, answers 503 and keeps trying, since a database may come at any time.
 *
 * @throws {StartupError} when it cannot start; whatever was started is stopped by then
 * @throws {ConfigError} when the stored operations are not in order
 */
export async function startService(
  config: Config,
  log: Log,
  { prepare, demo = null, listenWhenServing = false, isWarmedUp = false }: StartOptions = {},
): Promise<Service> {
  const resources = new AsyncDisposableStack();
  const stopping = new AbortController();
  let readiness = async (): Promise<string | null> => 'The service is starting.';
  const app = (parts: Parts | null) =>
    createApp({
      log,
      trustedProxies: config.trustedProxies,
      isHttps: config.publicUrl?.startsWith('https:') ?? false,
      corsOrigins: config.corsOrigins,
      readiness: () => readiness(),
      parts,
    });

  // First what can be refused at once: the stored operations, the data directory, then the port.
  const operations = config.persistedOperations ? await readStoredOperations(config.persistedOperations) : null;
  await lockEmbedded(config, resources);
  let answer = app(null);
  let pool: RenewablePool | undefined;
  let replica: Replica | null = null;
  const admit = createAdmission({
    mostWaiting: config.mostWaiting,
    waitMs: config.poolWaitMs,
    isDatabaseBusy: () => [pool, replica?.pool].some((pool) => !!pool && pool.waitingCount > pool.idleCount),
    onOverload: ({ refused }) => {
      if (refused === null) log.warn('overloaded: refusing what cannot be served soon');
      else log.info({ refused }, 'no longer overloaded');
    },
  });
  const metrics = createMetrics(String(cluster.worker?.id ?? 1));
  const measure = measureRequests(metrics);
  const onRequest: RequestListener = (request, response) => {
    measure(request, response, () => {
      if (isHealthCheck(request)) answer(request, response);
      else admit(request, response, () => answer(request, response));
    });
  };
  const open = () => listen(config.host, config.port, onRequest, config.mostConnections);
  let server: HttpServer | null = null;
  const stop = async (lingerMs = 0) => {
    stopping.abort();
    readiness = async () => 'The service is stopping.';
    await server?.stop(drainMs, lingerMs);
    await resources.disposeAsync();
  };

  try {
    if (!listenWhenServing) server = await open();
    // Before whatever is traced; ends after it.
    if (config.tracing) {
      const { startTracing } = await import('./tracing/startTracing.ts');
      resources.defer(await startTracing(config.tracing, log));
    }
    const shown = await showMetrics(config, metrics);
    if (shown) resources.defer(() => shown.stop(0));
    const url = config.publicUrl ?? `http://localhost:${server?.port ?? config.port}`;
    const keys = await secretKeys(config);
    const { authUrl, ownerUrl, embedded } = await openServerDatabase(config, { url, keys }, log, resources);
    await prepare?.(ownerUrl);
    const connections = createPool(authUrl, config, log);
    pool = connections;
    metrics.watchThread('main', () => ({ pool: stateOf(connections) }));
    // A statement that outlives the drain ends with its own timeout, not with ours.
    resources.defer(() => Promise.race([connections.end(), delay(2000, undefined, { ref: false })]));

    const { readiness: databaseReason, stop: stopWatching } = watchDatabase({
      pool: connections,
      authUrl,
      poolWaitMs: config.poolWaitMs,
      log,
    });
    resources.defer(stopWatching);
    replica = openReplica(config, connections, metrics, log);
    if (replica) resources.defer(replica.stop);
    const demoAccess = embedded?.demo ?? demo;
    const context = {
      config,
      url,
      pool: connections,
      replica,
      authUrl,
      keys,
      operations,
      demo: demoAccess,
      metrics,
      isWarmedUp,
      log,
    };
    const serving = Promise.withResolvers<void>();
    let parts: Parts | null = null;
    const build = async (): Promise<string | null> => {
      const reason = await databaseReason();
      if (reason !== null || stopping.signal.aborted) return reason;
      parts = await createParts(context);
      resources.defer(parts.stop);
      answer = app(parts);
      readiness = databaseReason;
      server ??= await open();
      serving.resolve();
      return null;
    };
    readiness = async () => (await databaseReason()) ?? 'The GraphQL schema is being built.';
    const reason = await build();
    if (reason !== null) {
      if (config.database.kind === 'embedded') throw new StartupError(reason);
      const built = keepTrying(build, stopping.signal, log);
      resources.defer(() => built);
    }
    const reload = async () => (await parts?.reload()) ?? null;
    return {
      url,
      explorers: config.explorers,
      embedded,
      reload,
      serving: serving.promise,
      metricsPort: shown?.port ?? null,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** How long what is in flight may take once the service stops. */
export const drainMs = 10_000;

function openReplica(config: Config, primary: RenewablePool, metrics: Metrics, log: Log): Replica | null {
  const { replicaUrl: url } = config;
  if (!url) return null;
  const replica = watchReplica({ url, primary, config, log });
  metrics.watchThread('main, replica', () => ({ pool: stateOf(replica.pool) }));
  metrics.watchReplica(() => replica.required() !== null);
  return replica;
}

const stateOf = ({ totalCount: size, idleCount: idle, waitingCount: waiting }: Pool) => ({ size, idle, waiting });

async function keepTrying(build: () => Promise<string | null>, signal: AbortSignal, log: Log): Promise<void> {
  let reason: string | null;
  do {
    await delay(1000, undefined, { signal }).catch(() => undefined);
    reason = await build().catch((error: unknown) => {
      log.error({ error }, 'cannot get ready yet');
      return 'failed';
    });
  } while (reason !== null && !signal.aborted);
}

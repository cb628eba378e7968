import { setTimeout as delay } from 'node:timers/promises';
import { createApp } from './app.ts';
import { type Config, needed } from './config.ts';
import { createDataDirectory, keep, lockDataDirectory } from './database/dataDirectory.ts';
import { startMigrated } from './database/openDatabase.ts';
import { createOwnerPool, createPool } from './database/pools.ts';
import { watchDatabase } from './database/readiness.ts';
import { readStoredOperations } from './graphql/storedOperations.ts';
import { listen } from './http/server.ts';
import type { Log } from './log.ts';
import { createParts, type Parts, type SchemaChange } from './parts.ts';
import { createDemoCredentials, provisionDemo, registerDemoGraphiql } from './provisioning/demo.ts';
import { secretKeys } from './secretKey.ts';
import { createSecrets, type Secrets } from './secrets.ts';
import type { Started } from './startLines.ts';
import { StartupError } from './startupError.ts';

export type Service = Started & {
  /**
   * Shows what the database's catalogue has become, without a restart and without dropping a request; null while nothing
   * is built that could be exchanged.
   *
   * @throws when the schema cannot be built; the old one goes on serving
   */
  reload(): Promise<SchemaChange | null>;
  /** Finishes what is in flight (at most 10 s), then gives everything back. */
  stop(): Promise<void>;
};

/**
 * Starts everything that the configuration asks for; resolves when requests can be served. With a database of one's own
 * that is away or behind it resolves too, answers 503 and keeps trying, since a database may come at any time.
 *
 * @param prepare is called when the database is there, before anything is built from it; with the owner's URL of the embedded one
 * @throws {StartupError} when it cannot start; whatever was started is stopped by then
 * @throws {ConfigError} when the stored operations are not in order
 */
export async function startService(
  config: Config,
  log: Log,
  prepare: (embeddedOwnerUrl: string | undefined) => Promise<void> = async () => undefined,
): Promise<Service> {
  const resources = new AsyncDisposableStack();
  const stopping = new AbortController();
  let readiness = async (): Promise<string | null> => 'The service is starting.';
  const app = (mounts: Parameters<typeof createApp>[0]['mounts']) =>
    createApp({
      log,
      trustedProxies: config.trustedProxies,
      isHttps: config.publicUrl?.startsWith('https:') ?? false,
      corsOrigins: config.corsOrigins,
      readiness: () => readiness(),
      mounts,
    });

  // First what can be refused at once: the stored operations, the data directory, then the port.
  const operations = config.persistedOperations ? await readStoredOperations(config.persistedOperations) : null;
  await lockEmbedded(config, resources);
  let answer = app(null);
  const server = await listen(config.host, config.port, (request, response) => answer(request, response)).catch(
    async (error: unknown) => {
      await resources.disposeAsync();
      throw error;
    },
  );
  const stop = async () => {
    stopping.abort();
    await server.stop(drainMs);
    await resources.disposeAsync();
  };

  try {
    const url = config.publicUrl ?? `http://localhost:${server.port}`;
    const keys = await secretKeys(config);
    const { authUrl, ownerUrl, embedded } = await openDatabase(config, url, createSecrets(keys), log, resources);
    await prepare(ownerUrl);
    const pool = createPool(authUrl, config, log);
    // A statement that outlives the drain ends with its own timeout, not with ours.
    resources.defer(() => Promise.race([pool.end(), delay(2000, undefined, { ref: false })]));

    const databaseReason = watchDatabase(pool, log);
    let parts: Parts | null = null;
    const build = async (): Promise<string | null> => {
      const reason = await databaseReason();
      if (reason !== null || stopping.signal.aborted) return reason;
      parts = await createParts({ config, url, pool, authUrl, keys, operations, demo: embedded?.demo ?? null, log });
      resources.defer(parts.stop);
      answer = app(parts.mounts);
      readiness = databaseReason;
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
    return { url, explorers: config.explorers, embedded, reload, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const drainMs = 10_000;

async function lockEmbedded({ database }: Config, resources: AsyncDisposableStack): Promise<void> {
  if (database.kind === 'own') return;
  await createDataDirectory(database.dataDir);
  const lock = await lockDataDirectory(database.dataDir);
  if (!lock) {
    const message = `Another server already uses the data directory ${database.dataDir}; stop it, or set DATA_DIR.`;
    throw new StartupError(message);
  }
  resources.defer(lock.release);
}

/** The authenticator's URL; the embedded database is started, migrated and given its demo first. */
async function openDatabase(
  { database, explorers }: Config,
  url: string,
  secrets: Secrets,
  log: Log,
  resources: AsyncDisposableStack,
) {
  if (database.kind === 'own') {
    return { authUrl: needed(database.authUrl, 'AUTH_DATABASE_URL'), ownerUrl: undefined, embedded: undefined };
  }
  const { authUrl, ownerUrl, cluster, stop } = await startMigrated(database.dataDir, log);
  resources.defer(stop);

  // Kept before it is used, so that a start that was interrupted between the two shows what opens the demo.
  const demo = await keep(database.dataDir, 'demo.json', createDemoCredentials);
  const owner = createOwnerPool(ownerUrl, log);
  try {
    if (await provisionDemo(owner, secrets, demo)) log.info('provisioned the demo organization');
    if (explorers) await registerDemoGraphiql(owner, secrets, url);
  } finally {
    await owner.end();
  }
  return { authUrl, ownerUrl, embedded: { cluster, demo } };
}

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

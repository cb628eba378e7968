import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase, Pool } from 'pg';
import { type Config, type DatabaseConfig, requireSetting } from '../config.ts';
import { StartupError } from '../errors/errors.ts';
import { createLog, type Log } from '../log.ts';
import { createDataDirectory, findFullDisk, lockDataDirectory } from './embedded/dataDirectory.ts';
import {
  type DatabaseUrls,
  type EmbeddedPostgres,
  findEmbeddedPostgres,
  startEmbeddedPostgres,
} from './embedded/embedded.ts';
import { migrate, migrationsAreCurrent } from './migrations/migrate.ts';
import { withOwnerPool } from './pool/pools.ts';
import { withClient } from './pool/transactions.ts';

/**
 * The database of a command; the embedded one is started for it unless it runs already.
 *
 * @param migrates whether the embedded one is migrated first; a developer works on it as it is
 * @returns the URLs, those of the logins as far as they are set; whether a server was started since none ran, which `close` stops
 * @throws {StartupError} when it is unavailable
 */
export async function openDatabase(
  database: DatabaseConfig,
  log: Log,
  { migrates = true }: { readonly migrates?: boolean } = {},
) {
  const close = async () => undefined;
  if (database.kind === 'own') {
    const { ownerUrl, authUrl, oauthUrl } = database;
    return { ownerUrl: requireSetting(ownerUrl, 'DATABASE_URL'), authUrl, oauthUrl, wasStarted: false, close };
  }
  const { dataDir } = database;
  await createDataDirectory(dataDir);
  const lock = await lockDataDirectory(dataDir);
  if (!lock) return { ...(await waitForServer(dataDir, migrates, log)), wasStarted: false, close };
  try {
    const { stop, ...urls } = await (migrates ? startMigrated : startEmbeddedPostgres)(dataDir, log);
    const close = async () => {
      await stop();
      await lock.release();
    };
    return { ...urls, wasStarted: true, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Works on the database of a command as its owner, whether or not the service runs, and closes it. */
export async function withDatabase<T>(
  { database, logLevel }: Pick<Config, 'database' | 'logLevel'>,
  work: (owner: Pool, ownerUrl: string) => Promise<T>,
): Promise<T> {
  const log = createLog(logLevel);
  const { ownerUrl, close } = await openDatabase(database, log);
  return withOwnerPool(ownerUrl, log, (owner) => work(owner, ownerUrl)).finally(close);
}

/** The embedded database with every committed migration; the caller holds the directory's lock. */
export async function startMigrated(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  const embedded = await startEmbeddedPostgres(dataDir, log);
  try {
    await migrate(embedded, log);
    await withClient(embedded.ownerUrl, (owner) => seeDirectory(owner, embedded.cluster));
    return embedded;
  } catch (error) {
    await embedded.stop();
    const fullDisk = await findFullDisk(dirname(embedded.cluster));
    throw fullDisk === null
      ? error
      : new StartupError(`${fullDisk} Its log is ${embedded.cluster}.log.`, { cause: error });
  }
}

/**
 * Stores in the database where its files are, so that a copy of them recognizes itself. A copy has a later birth time and another inode.
 * The number of the device is not stored: it may change when the machine or a container restarts.
 */
async function seeDirectory(owner: ClientBase, cluster: string): Promise<void> {
  const { ino, birthtimeNs } = await stat(cluster, { bigint: true });
  await owner.query('select app_hidden.see_webhook_directory($1)', [`${ino} ${birthtimeNs}`]);
}

/** Waits for the server of the process with the lock; it runs or is about to. */
async function waitForServer(dataDir: string, migrated: boolean, log: Log): Promise<DatabaseUrls> {
  for (const deadline = performance.now() + 10_000; performance.now() < deadline; await delay(100)) {
    const urls = await findEmbeddedPostgres(dataDir, log);
    if (urls && (!migrated || (await isMigrated(urls.ownerUrl, log)))) return urls;
  }
  throw new StartupError(`The service that uses ${dataDir} does not answer; see its log.`);
}

const isMigrated = (ownerUrl: string, log: Log): Promise<boolean> =>
  withOwnerPool(ownerUrl, log, (owner) => migrationsAreCurrent(owner)).catch(() => false);

import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseConfig } from '../config.ts';
import type { Log } from '../log.ts';
import { StartupError } from '../startupError.ts';
import { createDataDirectory, lockDataDirectory } from './dataDirectory.ts';
import { type DatabaseUrls, findEmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts';
import { migrate, migrationsAreCurrent } from './migrate.ts';
import { createOwnerPool } from './pools.ts';

export type OpenDatabase = DatabaseUrls & {
  /** Gives back what was started for it; somebody's own database and another process' server stay as they are. */
  close(): Promise<void>;
};

/**
 * The database for an admin command. The embedded one is used as it runs when the service is running, else it is started
 * and migrated for as long as the command lasts.
 *
 * @throws {StartupError} when it cannot be had
 */
export async function openDatabase(database: DatabaseConfig, log: Log): Promise<OpenDatabase> {
  if (database.kind === 'own') {
    const { ownerUrl = '', authUrl = '' } = database;
    return { ownerUrl, authUrl, close: async () => undefined };
  }
  await createDataDirectory(database.dataDir);
  const lock = await lockDataDirectory(database.dataDir);
  if (!lock) return { ...(await waitForServer(database.dataDir, log)), close: async () => undefined };

  const embedded = await startMigrated(database.dataDir, log);
  const close = async () => {
    await embedded.close();
    await lock.release();
  };
  return { ...embedded, close };
}

/** The embedded database with every committed migration; the caller holds the directory's lock. */
export async function startMigrated(dataDir: string, log: Log): Promise<OpenDatabase> {
  const { stop, ...urls } = await startEmbeddedPostgres(dataDir, log);
  try {
    await migrate(urls, log);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...urls, close: stop };
}

/** Another process has the lock, so its server runs or is about to. */
async function waitForServer(dataDir: string, log: Log): Promise<DatabaseUrls> {
  for (const patience = Date.now() + 10_000; Date.now() < patience; await delay(100)) {
    const urls = await findEmbeddedPostgres(dataDir, log);
    if (urls && (await isMigrated(urls, log))) return urls;
  }
  throw new StartupError(`The service that uses ${dataDir} does not answer; see its log.`);
}

async function isMigrated({ ownerUrl }: DatabaseUrls, log: Log): Promise<boolean> {
  const pool = createOwnerPool(ownerUrl, log);
  try {
    return await migrationsAreCurrent(pool);
  } catch {
    return false;
  } finally {
    await pool.end();
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseConfig, requireSetting } from '../config.ts';
import { StartupError } from '../errors/startupError.ts';
import type { Log } from '../log.ts';
import { createDataDirectory, lockDataDirectory } from './embedded/dataDirectory.ts';
import { type EmbeddedPostgres, findEmbeddedPostgres, startEmbeddedPostgres } from './embedded/embedded.ts';
import { migrate, migrationsAreCurrent } from './migrations/migrate.ts';
import { createOwnerPool } from './pool/pools.ts';

export type OpenDatabase = {
  ownerUrl: string;
  /** Stops the server that was started for it, but no external database or other process' server. */
  close(): Promise<void>;
};

/**
 * The database for an admin command. The embedded one is used as it runs when the service is running, else it is started
 * and migrated for as long as the command lasts.
 *
 * @throws {StartupError} when it is unavailable
 */
export async function openDatabase(database: DatabaseConfig, log: Log): Promise<OpenDatabase> {
  const nothing = async () => undefined;
  if (database.kind === 'own') return { ownerUrl: requireSetting(database.ownerUrl, 'DATABASE_URL'), close: nothing };

  await createDataDirectory(database.dataDir);
  const lock = await lockDataDirectory(database.dataDir);
  if (!lock) return { ownerUrl: await waitForServer(database.dataDir, log), close: nothing };
  try {
    const { ownerUrl, stop } = await startMigrated(database.dataDir, log);
    const close = async () => {
      await stop();
      await lock.release();
    };
    return { ownerUrl, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** The embedded database with every committed migration; the caller holds the directory's lock. */
export async function startMigrated(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  const embedded = await startEmbeddedPostgres(dataDir, log);
  try {
    await migrate(embedded, log);
    return embedded;
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

/** Another process has the lock, so its server runs or is about to. */
async function waitForServer(dataDir: string, log: Log): Promise<string> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(100)) {
    const urls = await findEmbeddedPostgres(dataDir, log);
    if (urls && (await isMigrated(urls.ownerUrl, log))) return urls.ownerUrl;
  }
  throw new StartupError(`The service that uses ${dataDir} does not answer; see its log.`);
}

async function isMigrated(ownerUrl: string, log: Log): Promise<boolean> {
  const pool = createOwnerPool(ownerUrl, log);
  try {
    return await migrationsAreCurrent(pool);
  } catch {
    return false;
  } finally {
    await pool.end();
  }
}

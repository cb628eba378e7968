import { setTimeout as delay } from 'node:timers/promises';
import { type DatabaseConfig, requireSetting } from '../../config.ts';
import { createDataDirectory, lockDataDirectory } from '../../database/embedded/dataDirectory.ts';
import { findEmbeddedPostgres, startEmbeddedPostgres } from '../../database/embedded/embedded.ts';
import { StartupError } from '../../errors/startupError.ts';
import type { Log } from '../../log.ts';

export type DevelopmentDatabase = {
  ownerUrl: string;
  /** The authenticator's; unset with a database of one's own unless AUTH_DATABASE_URL is set. */
  authUrl: string | undefined;
  oauthUrl?: string | undefined;
  close(): Promise<void>;
};

/**
 * The database that a developer works on, as it is: unlike for an admin command, nothing is migrated first. The embedded one
 * is used as it runs beside `npm run dev`, else it is started for as long as the command lasts.
 *
 * @throws {StartupError} when it is unavailable
 */
export async function openDevelopmentDatabase(database: DatabaseConfig, log: Log): Promise<DevelopmentDatabase> {
  const nothing = async () => undefined;
  if (database.kind === 'own') {
    const ownerUrl = requireSetting(database.ownerUrl, 'DATABASE_URL');
    const { authUrl, oauthUrl } = database;
    return { ownerUrl, authUrl, oauthUrl, close: nothing };
  }
  await createDataDirectory(database.dataDir);
  const lock = await lockDataDirectory(database.dataDir);
  if (!lock) return { ...(await waitForServer(database.dataDir, log)), close: nothing };
  try {
    const { stop, ...urls } = await startEmbeddedPostgres(database.dataDir, log);
    const close = async () => {
      await stop();
      await lock.release();
    };
    return { ...urls, close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Another process has the lock, so its server runs or is about to. */
async function waitForServer(dataDir: string, log: Log) {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await delay(100)) {
    const urls = await findEmbeddedPostgres(dataDir, log);
    if (urls) return urls;
  }
  throw new StartupError(`The service that uses ${dataDir} does not answer; see its log.`);
}

import { type Config, requireSetting } from '../config.ts';
import { createSecrets } from '../crypto/secrets.ts';
import { createDataDirectory, lockDataDirectory, readOrCreate } from '../database/embedded/dataDirectory.ts';
import { startMigrated } from '../database/openDatabase.ts';
import { withOwnerPool } from '../database/pool/pools.ts';
import type { ServerLogins } from '../database/roles/authenticator.ts';
import { StartupError } from '../errors/startupError.ts';
import type { Log } from '../log.ts';
import { createPasswords } from '../oauth/passwords.ts';
import { createDemoCredentials, provisionDemo, registerDemoGraphiql } from '../provisioning/demo.ts';
import { writeDemoEnvironment } from './demoEnvironment.ts';
import { issueDemoToken } from './issueDemoToken.ts';
import type { Resources } from './resources.ts';

/**
 * Locks the embedded database's data directory against other servers, until `resources` are disposed.
 *
 * @throws {StartupError} when another server is there
 */
export async function lockEmbedded({ database }: Config, resources: Resources): Promise<void> {
  if (database.kind === 'own') return;
  await createDataDirectory(database.dataDir);
  const lock = await lockDataDirectory(database.dataDir);
  if (!lock) {
    const message = `Another server already uses the data directory ${database.dataDir}; stop it, or set DATA_DIR.`;
    throw new StartupError(message);
  }
  resources.defer(lock.release);
}

/**
 * Opens the database of the server; the embedded one is started and migrated, and gets its demo.
 * It stops with `resources`. Its directory is already locked.
 *
 * @returns the logins; of the embedded database also the owner's URL, cluster and demo, with a token on demand. `provision` gives it a demo again if it has none
 */
export async function openServerDatabase(
  { database, explorers, passwordCost }: Config,
  { url, keys }: { readonly url: string; readonly keys: readonly [Buffer, ...Buffer[]] },
  log: Log,
  resources: Resources,
) {
  if (database.kind === 'own') {
    const { authUrl, oauthUrl } = database;
    const logins: ServerLogins = { authUrl: requireSetting(authUrl, 'AUTH_DATABASE_URL'), oauthUrl };
    return { logins, ownerUrl: undefined, embedded: undefined, provision: async () => undefined };
  }
  const { ownerUrl, cluster, stop, ...logins } = await startMigrated(database.dataDir, log);
  resources.defer(stop);

  // Stored before they are used, so that an interrupted start still has the demo's credentials.
  const demo = await readOrCreate(database.dataDir, 'demo.json', createDemoCredentials);
  const sealing = { secrets: createSecrets(keys), passwords: createPasswords(passwordCost) };
  await writeDemoEnvironment(database.dataDir, url, demo);
  const provision = () =>
    withOwnerPool(ownerUrl, log, async (owner) => {
      if (await provisionDemo(owner, sealing, demo)) log.info('provisioned the demo organization');
      if (explorers) await registerDemoGraphiql(owner, sealing, url);
    });
  await provision();
  const issueToken = () => withOwnerPool(ownerUrl, log, issueDemoToken);
  return { logins, ownerUrl, embedded: { cluster, demo, issueToken }, provision };
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { type Config, ConfigError, requireSetting } from '../config.ts';
import { createSecrets, isCheckedKey, type SecretKeyCheck, secretKeyCheck } from '../crypto/secrets.ts';
import { createDataDirectory, lockDataDirectory, readOrCreate } from '../database/embedded/dataDirectory.ts';
import { startMigrated } from '../database/openDatabase.ts';
import { createPool, stateOf, withOwnerPool } from '../database/pool/pools.ts';
import { watchDatabase } from '../database/pool/readiness.ts';
import { type Login, loginsOf, type ServerLogins } from '../database/roles/roles.ts';
import { StartupError } from '../errors/errors.ts';
import type { Log } from '../log.ts';
import { createPasswords } from '../oauth/passwords.ts';
import type { Metrics } from '../observability/metrics.ts';
import { noRequest } from '../observability/requestFields.ts';
import { createDemoCredentials, provisionDemo, registerDemoGraphiql } from '../provisioning/demo.ts';
import { watchReplica } from '../replica/watchReplica.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';
import { issueDemoToken, writeDemoEnvironment } from './demo.ts';

export type Connections = ReturnType<typeof openConnections>;

/** Opens the connections of this process, with probes and metrics; they are closed with `resources`. */
export function openConnections(
  { config, logins, metrics, log }: { config: Config; logins: ServerLogins; metrics: Metrics; log: Log },
  resources: Resources,
) {
  const open = (login: Login, thread: string) => {
    const pool = createPool(login.url, config, log);
    metrics.watchThread(thread, () => ({ pool: stateOf(pool) }));
    // A statement that outlives the drain ends by its own timeout.
    resources.defer(() => Promise.race([pool.end(), delay(500, undefined, { ref: false })]));
    const { readiness, stop } = watchDatabase({ pool, login, poolWaitMs: config.poolWaitMs, log });
    resources.defer(stop);
    return { pool, readiness };
  };
  const { graphql, oauth: oauthLogin } = loginsOf(logins);
  const { pool, readiness } = open(graphql, 'main');
  const oauth = oauthLogin && open(oauthLogin, 'main, OAuth');
  const replica = config.replicaUrl ? watchReplica(config.replicaUrl, pool, config, log) : null;
  if (replica) {
    metrics.watchThread('main, replica', () => ({ pool: stateOf(replica.pool) }));
    metrics.watchReplica(() => replica.required() !== null);
    resources.defer(replica.stop);
  }
  if (replica && oauth) {
    oauth.pool.on('connect', (client) => client.on('error', replica.invalidate));
    replica.onTrouble((server) => server === 'primary' && oauth.pool.evictAll());
  }
  const reasons = async () => (await Promise.all([readiness(), oauth?.readiness()])).find(Boolean) ?? null;
  return {
    /** To the primary, as the authenticator. */
    pool,
    /** To the primary, for the OAuth server and token verification; the same pool without its own login. */
    oauthPool: oauth?.pool ?? pool,
    /** Null when every query goes to the primary. */
    replica,
    /** Why the database is not ready; null when it is. */
    readiness: reasons,
  };
}

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

/**
 * SECRET_KEY, then SECRET_KEY_PREVIOUS if it is set; 32 bytes each.
 * With the embedded database, a missing key is made once and kept in the data directory.
 */
export async function secretKeys(config: Config): Promise<[Buffer, ...Buffer[]]> {
  const { database, secretKey, secretKeyPrevious } = config;
  const current = database.kind === 'embedded' ? (secretKey ?? (await readKey(database.dataDir))) : secretKey;
  return [requireSetting(current, 'SECRET_KEY'), ...(secretKeyPrevious ? [secretKeyPrevious] : [])];
}

async function readKey(dataDir: string): Promise<Buffer> {
  await createDataDirectory(dataDir);
  const key = await readOrCreate(dataDir, 'secret-key.json', () => randomBytes(32).toString('base64'));
  const bytes = Buffer.from(key, 'base64');
  if (bytes.length === 32) return bytes;
  throw new StartupError(`${join(dataDir, 'secret-key.json')} has no key of 32 bytes; restore it from a backup.`);
}

/**
 * Notes in the database by which SECRET_KEY its service seals, unless one is noted, and compares it: nothing would open under another key.
 *
 * @throws {ConfigError} when neither key is the noted one
 */
export async function requireSecretKey(pool: Pool, keys: readonly [Buffer, ...Buffer[]]): Promise<void> {
  const { salt, checksum } = secretKeyCheck(keys[0]);
  const { rows } = await queryOnce<SecretKeyCheck>(pool, oauthSettings(null, noRequest), {
    text: 'select salt, checksum from app_hidden.note_secret_key($1, $2)',
    values: [salt, checksum],
  });
  requireNoted(keys, rows[0]);
}

/** The same for a command, as the owner; it notes no key. */
export async function requireSecretKeyOf(owner: Pool, keys: readonly Buffer[]): Promise<void> {
  const { rows } = await owner.query<SecretKeyCheck>('select salt, checksum from app_hidden.secret_key_check');
  requireNoted(keys, rows[0]);
}

function requireNoted(keys: readonly Buffer[], noted: SecretKeyCheck | undefined): void {
  if (!noted || keys.some((key) => isCheckedKey(key, noted))) return;
  throw new ConfigError([
    'SECRET_KEY: is not the key under which this database is sealed. Set that key, as SECRET_KEY or, while you replace it, ' +
      'as SECRET_KEY_PREVIOUS. If it is lost: npm run -s admin -- re-encrypt --lost-key',
  ]);
}

export type Resources = { defer(end: () => unknown): void };

/** A stack of clean-ups, the newest first: `AsyncDisposableStack`, which Node.js 22 does not have. */
export function createResources(): Resources & { disposeAsync(): Promise<void> } {
  const ends: (() => unknown)[] = [];
  const disposeAsync = async (): Promise<void> => {
    const end = ends.pop();
    try {
      await end?.();
    } finally {
      // The others run even if one fails.
      if (end) await disposeAsync();
    }
  };
  return { defer: (end) => void ends.push(end), disposeAsync };
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { type Config, ConfigError, requireSetting } from '../config.ts';
import { isCheckedKey, type SecretKeyCheck, secretKeyCheck } from '../crypto/secretKeyCheck.ts';
import { createDataDirectory, readOrCreate } from '../database/embedded/dataDirectory.ts';
import { StartupError } from '../errors/startupError.ts';
import { noRequest } from '../observability/requestFields.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';

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

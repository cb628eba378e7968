import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Config, requireSetting } from '../config.ts';
import { createDataDirectory, readOrCreate } from '../database/embedded/dataDirectory.ts';
import { StartupError } from '../errors/startupError.ts';

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

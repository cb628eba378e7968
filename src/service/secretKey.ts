import { randomBytes } from 'node:crypto';
import { type Config, requireSetting } from '../config.ts';
import { createDataDirectory, readOrCreate } from '../database/embedded/dataDirectory.ts';

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
  return Buffer.from(key, 'base64');
}

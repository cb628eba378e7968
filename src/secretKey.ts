import { randomBytes } from 'node:crypto';
import { type Config, ConfigError } from './config.ts';
import { createDataDirectory, keep } from './database/dataDirectory.ts';

/**
 * SECRET_KEY, then SECRET_KEY_PREVIOUS if it is set; 32 bytes each. With the embedded database a missing key is made once
 * and kept in the data directory.
 */
export async function secretKeys(config: Config): Promise<[Buffer, ...Buffer[]]> {
  const current = config.secretKey ?? (await keptKey(config));
  return config.secretKeyPrevious ? [current, config.secretKeyPrevious] : [current];
}

async function keptKey({ database }: Config): Promise<Buffer> {
  if (database.kind === 'own') throw new ConfigError(['SECRET_KEY: is needed with a database of your own']);
  await createDataDirectory(database.dataDir);
  const key = await keep(database.dataDir, 'secret-key.json', () => randomBytes(32).toString('base64'));
  return Buffer.from(key, 'base64');
}

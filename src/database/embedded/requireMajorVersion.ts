import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../errors/hasCode.ts';
import { StartupError } from '../../errors/startupError.ts';
import type { Installation } from './postgresInstallation.ts';

/**
 * Refuses a cluster of another major version of PostgreSQL, which reads the files of its own only.
 * Checked before anything is changed, so that the version before still runs on the cluster.
 *
 * @throws {StartupError} when the cluster exists and is another version's; it says what to do
 */
export async function requireMajorVersion({ cluster, majorVersion }: Installation): Promise<void> {
  const found = await clusterVersion(cluster);
  if (found === null || found === String(majorVersion)) return;
  const facts = `${cluster} was made by PostgreSQL ${found}; this version of the service brings PostgreSQL ${majorVersion}.`;
  const remedy = `Go back to the version that you had, or bring the data along as docs/upgrading.md says (A new major version).`;
  throw new StartupError(`${facts} Nothing was changed. ${remedy}`);
}

async function clusterVersion(cluster: string): Promise<string | null> {
  try {
    return (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

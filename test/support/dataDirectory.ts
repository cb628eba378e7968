import { createHash } from 'node:crypto';
import { chmod, mkdtemp, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory that PostgreSQL can reach, also when it runs as another user because this one is root. */
export async function createTestDataDirectory(parent = tmpdir()): Promise<string> {
  const dataDir = await mkdtemp(join(await realpath(parent), 'graph-query-service-test-'));
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** A parent in memory where there is room: the clone of a database is 300 new files, which take a third of a second on a disk. */
export async function directoryInMemory(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null);
  return memory !== null && memory.bavail * memory.bsize > 8 * 2 ** 30 ? '/dev/shm' : tmpdir();
}

/** Removes it and what the service put elsewhere for it. */
export async function removeTestDataDirectory(dataDir: string): Promise<void> {
  await rm(dataDir, { recursive: true, force: true });
  if (process.getuid?.() === 0) await rm(placeElsewhere(dataDir), { recursive: true, force: true });
}

/** Where the service puts what PostgreSQL's user cannot reach in the directory. */
export function placeElsewhere(dataDir: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join('/var/lib/graph-query-service', hash);
}

import { createHash } from 'node:crypto';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new directory that PostgreSQL can reach, also when it runs as another user because this one is root. */
export async function createTestDataDirectory(): Promise<string> {
  const dataDir = await mkdtemp(join(await realpath(tmpdir()), 'graph-query-service-test-'));
  await chmod(dataDir, 0o711);
  return dataDir;
}

/** Removes it and what the service put elsewhere for it. */
export async function removeTestDataDirectory(dataDir: string): Promise<void> {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  await rm(dataDir, { recursive: true, force: true });
  if (process.getuid?.() === 0) {
    await rm(join('/var/lib/graph-query-service', hash), { recursive: true, force: true });
  }
}

import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasCode } from '../../src/errors/hasCode.ts';
import { directoryInMemory } from './dataDirectory.ts';

/**
 * A folder with copies of these files and folders of the repository, and a link to its packages.
 *
 * It has the first name that is free and not a random one, so that the cache of compiled modules knows it the next time.
 */
export async function createSourceCopy(paths: readonly string[]): Promise<string> {
  const root = await createNumbered(join(await directoryInMemory(), 'graph-query-service-copy'));
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await promisify(execFile)('cp', ['-a', join(repository, path), join(root, path)]);
  }
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'));
  return root;
}

async function createNumbered(name: string): Promise<string> {
  for (let number = 1; ; number++) {
    try {
      const path = `${name}-${number}`;
      await mkdir(path, { mode: 0o755 });
      return path;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

const repository = fileURLToPath(new URL('../..', import.meta.url));

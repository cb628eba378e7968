import { execFile } from 'node:child_process';
import { mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { hasCode } from '../../src/errors/errors.ts';
import { directoryInMemory } from './dataDirectory.ts';

/** What a service needs of the repository. */
export const program = ['src', 'plugins', 'packages', 'migrations', 'package.json', 'docs/errors.md'];

/**
 * A folder with copies of these files and folders of the repository, and links to the packages it depends on.
 * Its links to `packages` are as in the repository, so that they lead to its own copies.
 *
 * It has the first name that is free and not a random one, so that the cache of compiled modules knows it the next time.
 */
export async function createSourceCopy(paths: readonly string[]): Promise<string> {
  const root = await createNumbered(join(await directoryInMemory(), 'graph-query-service-copy'));
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await promisify(execFile)('cp', ['-a', join(repository, path), join(root, path)]);
  }
  await mkdir(join(root, 'node_modules'));
  for (const entry of await readdir(modules, { withFileTypes: true })) {
    const target = entry.isSymbolicLink() ? await readlink(join(modules, entry.name)) : join(modules, entry.name);
    await symlink(target, join(root, 'node_modules', entry.name));
  }
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
const modules = join(repository, 'node_modules');

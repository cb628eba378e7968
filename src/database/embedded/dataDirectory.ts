import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { hasCode } from '../../errors/hasCode.ts';
import { StartupError } from '../../errors/startupError.ts';

/**
 * Creates the directory if it is missing.
 * Others may pass through it, since PostgreSQL may run as another user, but not list it; every file of `readOrCreate` is readable for its
 * owner only.
 */
export async function createDataDirectory(dataDir: string): Promise<void> {
  try {
    if (await mkdir(dataDir, { recursive: true })) await chmod(dataDir, 0o711);
  } catch (error) {
    throw new StartupError(`Cannot create the data directory ${dataDir}; set DATA_DIR to another one.`, {
      cause: error,
    });
  }
}

/**
 * Makes this process the only one that runs a server on the directory, until `release` or its end.
 * However it ends: the lock is a socket in Linux' abstract namespace, which leaves nothing behind that could be stale.
 *
 * @returns null when another process has it
 */
export async function lockDataDirectory(dataDir: string): Promise<DataDirectoryLock | null> {
  // By inode, so that two names of one directory are one lock.
  const { dev, ino } = await stat(dataDir);
  const server = createServer();
  const locked = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error) => (hasCode(error, 'EADDRINUSE') ? resolve(false) : reject(error)));
    server.listen(`\0graph-query-service:${dev}:${ino}`, () => resolve(true));
  });
  if (!locked) return null;
  server.unref();
  return { release: () => new Promise((resolve) => server.close(() => resolve())) };
}

export type DataDirectoryLock = { release(): Promise<void> };

/** Get-or-create of the JSON value in the file `name`; concurrent processes get the same one. */
export async function readOrCreate<T>(dataDir: string, name: string, make: () => T): Promise<T> {
  const path = join(dataDir, name);
  const stored = await read<T>(path);
  if (stored !== undefined) return stored;

  const value = make();
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true });
    // Unlike a rename, a link never replaces what another process has just put there.
    await link(draft, path);
    return value;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return readOrCreate(dataDir, name, make);
    throw new StartupError(`Cannot write ${path}; let this user write there, or set DATA_DIR.`, { cause: error });
  } finally {
    await rm(draft, { force: true });
  }
}

async function read<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new StartupError(`Cannot read ${path}; let this user read it, or restore it from a backup.`, {
      cause: error,
    });
  }
}

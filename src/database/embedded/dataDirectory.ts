import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { hasCode, StartupError } from '../../errors/errors.ts';

/**
 * Creates the directory if it is missing.
 * Other users may pass through it, since PostgreSQL may run as another user, but not list it. Only the owner may read a file of
 * `readOrCreate`.
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
 * Locks the directory for a server of this process, until `release` or the process' end.
 *
 * It is SQLite's lock on an empty file. The kernel releases it with the process, however that ends (fcntl(2)), so that no lock is ever
 * stale. Node.js has no file lock of its own.
 *
 * @returns null when another process has it
 */
export async function lockDataDirectory(dataDir: string): Promise<{ release(): Promise<void> } | null> {
  const path = join(dataDir, 'lock');
  try {
    const lock = new DatabaseSync(path);
    // Another user who can open the file could hold the lock forever.
    await chmod(path, 0o600);
    lock.exec('pragma journal_mode = memory; begin exclusive');
    return { release: async () => lock.close() };
  } catch (error) {
    // SQLITE_BUSY
    if (error instanceof Error && 'errcode' in error && error.errcode === 5) return null;
    throw new StartupError(`Cannot lock ${path}; let this user write there, or set DATA_DIR.`, { cause: error });
  }
}

/** A sentence when the directory's disk has less room than PostgreSQL needs for one segment of its log; null when it has more. */
export async function findFullDisk(directory: string, neededMb = 16): Promise<string | null> {
  const disk = await statfs(directory).catch(() => null);
  const freeMb = disk ? Math.floor((disk.bavail * disk.bsize) / 2 ** 20) : neededMb;
  if (freeMb >= neededMb) return null;
  return `The disk of ${directory} is full: ${freeMb} MB are free, and PostgreSQL needs ${neededMb}. Free space there, or set DATA_DIR to another disk.`;
}

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
    const value: T | null = JSON.parse(await readFile(path, 'utf8'));
    if (value === null) throw new SyntaxError('null');
    return value;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // The parser's message may quote a password.
    throw unreadable(
      path,
      error instanceof SyntaxError ? new Error('It is not the JSON that was written there.') : error,
    );
  }
}

const unreadable = (path: string, cause: unknown) =>
  new StartupError(`Cannot read ${path}; let this user read it, or restore it from a backup.`, { cause });

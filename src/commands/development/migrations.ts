import { chmod, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Settings, watch } from 'graphile-migrate';
import { parseMigrationText } from 'graphile-migrate/dist/migration.js';
import type { Client } from 'pg';
import { migrationsFolder, readPlainText, withPlainFolder } from '../../database/migrations/committedMigrations.ts';
import { awaitMigrations } from '../../database/migrations/migrate.ts';
import {
  isWithoutTransaction,
  lockDeadlineMs,
  lockTimeoutMs,
  quiet,
  requireOwnHistory,
  requireServer,
  retryOnLocks,
  runCommitted,
  runGraphileMigrate,
} from '../../database/migrations/runCommitted.ts';
import { withClient } from '../../database/pool/transactions.ts';
import { hasCode } from '../../errors/errors.ts';
import { createLog } from '../../log.ts';
import { requireOneStatement } from './sqlFileError.ts';

/** The migration in progress. It runs on every save, so it must be able to run twice. */
export const currentFile = join(migrationsFolder, 'current.sql');

/** A developer waits: only warnings are logged. */
const log = createLog('warn');

/** The file without a migration, as graphile-migrate leaves it after a commit. */
export const blankCurrent = `-- Enter migration here: docs/changing-the-schema.md. Each object is in test/database/catalogue.sql.`;

/** Whether it has no statement. */
export const isBlank = (sql: string) => sql.replace(/--.*|\/\*[\s\S]*?\*\//g, '').trim() === '';

/** The text of the file; empty when there is none. @throws {StartupError} when it is not UTF-8 */
export const readCurrent = (): Promise<string> =>
  readPlainText(currentFile).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  });

/**
 * Works on a database under the lock of migrations, so that `db:commit` and `npm run dev` take turns.
 *
 * @param work gets the connection that holds the lock
 */
export const withMigrationLock = <T>(ownerUrl: string, work: (owner: Client) => Promise<T>): Promise<T> =>
  withClient(ownerUrl, async (owner) => {
    await awaitMigrations(owner);
    return work(owner);
  });

/** Runs the migrations of `migrations/committed` on a database. @throws {StartupError} when one fails */
export const applyCommitted = (ownerUrl: string): Promise<void> =>
  withMigrationLock(ownerUrl, (owner) => runMissing(owner, ownerUrl));

/** The same under the lock of migrations. */
export async function runMissing(owner: Client, ownerUrl: string): Promise<void> {
  await requireServer(owner);
  await requireOwnHistory(owner);
  await runCommitted(owner, ownerUrl, log);
}

const committedFolder = join(migrationsFolder, 'committed');

/** Ends the name of the file that has a migration's text on its way between the two others: see {@link finishMove}. */
const moving = '.moving';

/** Puts a migration in place of the text of `current.sql`. */
export async function moveToCommitted(name: string, text: string): Promise<void> {
  const file = join(committedFolder, name);
  // graphile-migrate makes it readable for owner and group, and the user of an image is neither.
  await replaceFile(file + moving, text, 0o444);
  await replaceFile(currentFile, `${blankCurrent}\n`);
  await rename(file + moving, file);
}

/** Puts a text into `current.sql` in place of the committed migration that has it. */
export async function moveToCurrent(name: string, text: string): Promise<void> {
  const file = join(committedFolder, name);
  await rename(file, file + moving);
  await replaceFile(currentFile, text);
  await rm(file + moving);
}

/** Ends a move that was interrupted, by which the migration is in one of the two files, and not in both. */
export async function finishMove(): Promise<void> {
  for (const name of (await readdir(committedFolder)).filter((name) => name.endsWith(moving))) {
    const file = join(committedFolder, name);
    const { body } = parseMigrationText(file, await readPlainText(file), false);
    if ((await readCurrent()).includes(body.trim())) await rm(file);
    else await rename(file, file.slice(0, -moving.length));
  }
}

/** Atomic: a reader, and who comes after this process was killed, finds the old text or the new. Also where the old file is read-only. */
export async function replaceFile(path: string, text: string, mode = 0o644): Promise<void> {
  await writeFile(`${path}.new`, text);
  await chmod(`${path}.new`, mode);
  await rename(`${path}.new`, path);
}

/** Runs a command of graphile-migrate on a database, and retries until it gets its locks. */
async function withGraphileMigrate<T>(
  ownerUrl: string,
  folder: string,
  command: (settings: Settings) => Promise<T>,
): Promise<T> {
  // No request waits behind a concurrent statement, so it may wait longer.
  const lockTimeout = isWithoutTransaction(await readCurrent()) ? lockDeadlineMs : lockTimeoutMs;
  return withMigrationLock(ownerUrl, (owner) => {
    const attempt = () =>
      runGraphileMigrate(owner, (named) =>
        command({
          connectionString: named(ownerUrl),
          rootConnectionString: named(otherDatabase(ownerUrl, 'postgres')),
          migrationsFolder: folder,
          blankMigrationContent: blankCurrent,
          pgSettings: { lock_timeout: String(lockTimeout) },
          logger: quiet,
        }),
      );
    return retryOnLocks(attempt, lockDeadlineMs, async (tries) => {
      if (tries === 1) log.warn({ file: 'current.sql' }, 'a migration waits for a lock and tries again');
    });
  });
}

/** Runs `migrations/current.sql` on a database, unless it has run this text. */
export async function runCurrent(ownerUrl: string): Promise<void> {
  await requireOneStatement(currentFile, await readCurrent());
  await withPlainFolder((folder) => withGraphileMigrate(ownerUrl, folder, (settings) => watch(settings, true)));
}

/** Another database of the same server, as the same role. */
export function otherDatabase(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, (_, server) => `${server}/${encodeURIComponent(name)}`);
}

/** Without a parser of URLs, which accepts none that leaves the host to PGHOST. */
export const databaseName = (url: string): string =>
  decodeURIComponent(/^\w+:\/\/[^/?]*\/([^?]*)/.exec(url)?.[1] ?? '');

import { join } from 'node:path';
import { type Settings, watch } from 'graphile-migrate';
import type { Client } from 'pg';
import { isWithoutTransaction, quiet, runGraphileMigrate } from '../../database/migrations/graphileMigrate.ts';
import { lockDeadlineMs, lockTimeoutMs, retryOnLocks } from '../../database/migrations/lockRetries.ts';
import { awaitMigrations } from '../../database/migrations/migrate.ts';
import { migrationsFolder, readPlainText, withPlainFolder } from '../../database/migrations/plainText.ts';
import { requireOwnHistory, requireServer, runCommitted } from '../../database/migrations/runCommitted.ts';
import { withClient } from '../../database/pool/withClient.ts';
import { hasCode } from '../../errors/hasCode.ts';
import { createLog } from '../../log.ts';

/** The migration in progress. It runs on every save, so it must be able to run twice. */
export const currentFile = join(migrationsFolder, 'current.sql');

/** A developer waits: only warnings are logged. */
const log = createLog('warn');

/** The file without a migration, as graphile-migrate leaves it after a commit. */
export const blankCurrent = `-- Enter migration here: docs/changing-the-schema.md. The present text of each object is in test/database/objects.`;

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
  withMigrationLock(ownerUrl, async (owner) => {
    await requireServer(owner);
    await requireOwnHistory(owner);
    await runCommitted(owner, ownerUrl, log);
  });

/**
 * Runs a command of graphile-migrate on a database, and retries until it gets its locks.
 * `shadowUrl` is a second one, which it may drop and create.
 */
export async function withGraphileMigrate<T>(
  { ownerUrl, shadowUrl, folder = migrationsFolder }: { ownerUrl: string; shadowUrl?: string; folder?: string },
  command: (settings: Settings) => Promise<T>,
): Promise<T> {
  // No request waits behind a concurrent statement, so it may wait longer.
  const lockTimeout = isWithoutTransaction(await readCurrent()) ? lockDeadlineMs : lockTimeoutMs;
  return withMigrationLock(ownerUrl, (owner) => {
    const attempt = () =>
      runGraphileMigrate(owner, (named) =>
        command({
          connectionString: named(ownerUrl),
          ...(shadowUrl && { shadowConnectionString: named(shadowUrl) }),
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
export const runCurrent = (ownerUrl: string): Promise<void> =>
  withPlainFolder((folder) => withGraphileMigrate({ ownerUrl, folder }, (settings) => watch(settings, true)));

/** Another database of the same server, as the same role. */
export function otherDatabase(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(?:\/[^?]*)?/, (_, server) => `${server}/${encodeURIComponent(name)}`);
}

/** Without a parser of URLs, which accepts none that leaves the host to PGHOST. */
export const databaseName = (url: string): string =>
  decodeURIComponent(/^\w+:\/\/[^/?]*\/([^?]*)/.exec(url)?.[1] ?? '');

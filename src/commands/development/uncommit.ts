import { execFile } from 'node:child_process';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { type ClientBase, DatabaseError } from 'pg';
import type { Config } from '../../config.ts';
import {
  type CommittedMigration,
  lastOnes,
  migrationsFolder,
  readApplied,
  readCommitted,
} from '../../database/migrations/committedMigrations.ts';
import { isWithoutTransaction } from '../../database/migrations/runCommitted.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { blankCurrent, databaseName, finishMove, moveToCurrent, readCurrent, withMigrationLock } from './migrations.ts';
import { countReleased, readReleases } from './releasedMigrations.ts';

/**
 * `npm run db:uncommit`: takes the newest committed migration back to `migrations/current.sql`.
 * There it can be changed or get another number. What it made stays in the database until `current.sql`, which first drops it, runs again.
 * Where two branches have met, the migration is the named one, or the one that is not on the main branch. An external database must be
 * named: `npm run db:uncommit -- --database NAME`.
 *
 * @throws {StartupError} when a change would be lost, or others have run it, as those of a release: nothing is changed then
 */
export async function uncommit(
  config: Config,
  given: { readonly file: string | undefined; readonly database?: string },
  log: Log,
): Promise<string[]> {
  const isOwn = config.database.kind === 'own';
  if (!isOwn && given.database !== undefined)
    throw new StartupError(`--database ${given.database} names a database of your own, and DATABASE_URL is not set.`);
  const database = await openDatabase(config.database, log, { migrates: false });
  const name = databaseName(database.ownerUrl);
  try {
    if (isOwn && given.database !== name)
      throw new StartupError(`If ${name} is yours alone: npm run db:uncommit -- --database ${name}`);
    const taken = await withMigrationLock(database.ownerUrl, async (owner) => {
      await finishMove();
      await requireBlank();
      const migration = await choose(await readCommitted(), given.file);
      await requireUnreleased(migration);
      await forget(owner, migration);
      await moveToCurrent(migration.name, currentText(migration));
      return migration.name;
    });
    return [`${taken} is migrations/current.sql again. Next: \`npm run dev\`, then \`npm run db:commit\`.`];
  } finally {
    await database.close();
  }
}

/** Even a comment in it would be lost. */
async function requireBlank(): Promise<void> {
  if (['', blankCurrent].includes((await readCurrent()).trim())) return;
  throw new StartupError('migrations/current.sql is not empty; commit it or move it first. Nothing was changed.');
}

/** The named migration, else the only unpublished one; no other was committed after it. */
async function choose(files: readonly CommittedMigration[], named: string | undefined): Promise<CommittedMigration> {
  const published = await readPublished();
  const own = lastOnes(files).filter(({ name }) => !published?.has(name));
  const wanted = named === undefined ? files.at(-1)?.name : basename(named);
  const [only, ...others] = named === undefined ? own : own.filter(({ name }) => name === wanted);
  if (only && others.length === 0) return only;
  if (only) {
    const names = own.map(({ name }) => name).join(' or ');
    throw new StartupError(`Two branches have met; say which one is not merged yet: npm run db:uncommit -- ${names}`);
  }
  if (wanted === undefined) throw new StartupError('There is no committed migration.');
  if (named === undefined || published?.has(wanted)) {
    const remedy = 'Write another migration. Nothing was changed.';
    throw new StartupError(`${wanted} is on the main branch: others have run it. ${remedy}`);
  }
  const found = files.find(({ name }) => name === wanted);
  if (!found) throw new StartupError(`There is no committed migration ${wanted}.`);
  const next = files.find(({ previous }) => previous === found.hash);
  throw new StartupError(`${next?.name} was committed after ${wanted}: take that one back first. Nothing was changed.`);
}

/** A release may be here without the main branch that it is of. */
async function requireUnreleased({ name }: CommittedMigration): Promise<void> {
  const files = await readCommitted();
  const released = files.slice(0, countReleased(files, await readReleases()));
  if (released.some((file) => file.name === name))
    throw new StartupError(`${name} is released, and never changes: write another migration. Nothing was changed.`);
}

/** The files of `origin`'s main branch at the last fetch; null when there is no such branch. */
async function readPublished(): Promise<ReadonlySet<string> | null> {
  for (const branch of ['origin/HEAD', 'origin/main', 'origin/master']) {
    const args = ['ls-tree', '--name-only', `refs/remotes/${branch}`, './committed/'];
    const listed = await promisify(execFile)('git', args, { cwd: migrationsFolder }).catch(() => null);
    if (listed) return new Set(listed.stdout.split('\n').map((path) => basename(path)));
  }
  return null;
}

/** Deletes the record of the migration. */
async function forget(owner: ClientBase, { name, hash }: CommittedMigration): Promise<void> {
  if ((await readApplied(owner)).length === 0) return;
  try {
    await owner.query('delete from graphile_migrate.migrations where hash = $1', [hash]);
  } catch (error) {
    // SQLSTATE foreign_key_violation: each record refers to the one before.
    if (!(error instanceof DatabaseError) || error.code !== '23503') throw error;
    const remedy = 'get its branch, or npm run db:reset';
    throw new StartupError(`The database has run another migration after ${name}: ${remedy}. Nothing was changed.`);
  }
}

/** As it was written. graphile-migrate looks for `--! no-transaction` on the first line alone. */
const currentText = ({ message, body }: CommittedMigration) =>
  (message && !isWithoutTransaction(body) ? `--! Message: ${message}\n\n` : '') + body;

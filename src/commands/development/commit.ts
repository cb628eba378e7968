import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commit as commitMigration } from 'graphile-migrate';
import { DatabaseError, escapeIdentifier } from 'pg';
import type { Config } from '../../config.ts';
import { readCommitted, requireOrder } from '../../database/migrations/committedMigrations.ts';
import { migrationsFolder, requirePlainCommitted } from '../../database/migrations/plainText.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/startupError.ts';
import type { Log } from '../../log.ts';
import { describeBuildError, describeFindings, isOfCluster, newFindings, readFindings } from './findings.ts';
import { readSchema } from './goldenFiles.ts';
import { asRoot, helperUrlOf } from './helperDatabase.ts';
import { lintMigration } from './lintMigration.ts';
import { blankCurrent, currentFile, databaseName, readCurrent, withGraphileMigrate } from './migrations.ts';
import { withShadow } from './shadow.ts';
import { locateError, sourceOf } from './sqlFileError.ts';

/**
 * `npm run db:commit -- "what it does"`: makes `migrations/current.sql` the next committed migration.
 * The file is empty afterwards. All migrations run on an empty database first, and the new one once more on the developer's own.
 *
 * @returns what to do next, and the warnings of `audit.findings`
 * @throws {StartupError} when a migration fails, or the new one is unsafe, adds an error to `audit.findings` or makes a schema that cannot
 * be built. Then nothing is committed
 */
export async function commit(config: Config, given: string | undefined, log: Log): Promise<string[]> {
  const text = await readCurrent();
  // A migration that was uncommitted still has its message.
  const message = given ?? /^--! Message: (.+)$/m.exec(text)?.[1];
  if (!message) throw new StartupError('Say what the migration does: npm run db:commit -- "add doors"');
  const files = await readCommitted();
  requireOrder(files);
  await requirePlainCommitted();
  await refuseUnsafe(
    text,
    files.map(({ body }) => body),
  );
  const database = await openDatabase(config.database, log, { migrates: false });
  const { ownerUrl } = database;
  const shadowUrl = helperUrlOf(ownerUrl, 'shadow');
  try {
    const warnings = await refuseErrors(ownerUrl, text);
    // The sentence of an empty file is no part of a migration, nor are a byte order mark and carriage returns.
    await writeFile(currentFile, text.includes(blankCurrent) ? text.replace(blankCurrent, '').trimStart() : text);
    await commitBeside(ownerUrl, shadowUrl, message);
    await allowReading();
    return [...warnings, 'Committed. Next: `npm run schema:update`, then review and commit what has changed.'];
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (error instanceof DatabaseError) {
      const { message } = await locateError(currentFile, text, error, ownerUrl);
      throw new StartupError(`Nothing is committed.\n${message}`);
    }
    throw new StartupError('Nothing is committed.', { cause: error });
  } finally {
    await database.close();
  }
}

/** Drops the shadow, which has no mark: graphile-migrate has created it anew. One that was not ours has stopped the command before. */
async function commitBeside(ownerUrl: string, shadowUrl: string, message: string): Promise<void> {
  try {
    await withGraphileMigrate({ ownerUrl, shadowUrl }, (settings) => commitMigration(settings, message));
  } finally {
    await asRoot(ownerUrl, `drop database if exists ${escapeIdentifier(databaseName(shadowUrl))}`);
  }
}

/**
 * Makes the new migration readable for all users, such as the user of an image that is built from it.
 * graphile-migrate makes it readable for its owner and group alone.
 */
async function allowReading(): Promise<void> {
  for (const { name } of (await readCommitted()).slice(-1))
    await chmod(join(migrationsFolder, 'committed', name), 0o444);
}

/** Runs the migration after the committed ones. @returns its warnings */
async function refuseErrors(ownerUrl: string, text: string): Promise<string[]> {
  return withShadow(ownerUrl, async ({ url, applyCurrent }) => {
    const before = await readFindings(url);
    await applyCurrent();
    const found = newFindings(before, await readFindings(url)).filter((finding) => !isOfCluster(finding, text));
    const lines = await describeFindings(found, text);
    if (found.some(({ level }) => level === 'error')) {
      const hint =
        "To accept a finding that is no fault, let the migration insert its name, its object, '' and the reason into audit.accepted.";
      throw new StartupError(['Nothing is committed.', ...lines, hint].join('\n'));
    }
    await readSchema(url).catch(async (error: unknown) => {
      throw new StartupError(`Nothing is committed.\n${await describeBuildError(error, text)}`);
    });
    return lines;
  });
}

async function refuseUnsafe(sql: string, committed: readonly string[]): Promise<void> {
  const findings = await lintMigration(sql, committed);
  if (findings.length === 0) return;
  const lines = findings.flatMap(({ rule, line, message }) => [
    `migrations/current.sql:${line}: ${message} (${rule})`,
    ...sourceOf(sql, line),
  ]);
  const hint = 'If a statement is safe nevertheless, write above it: -- squawk-ignore <rule>';
  throw new StartupError(['Nothing is committed.', ...lines, hint].join('\n'));
}

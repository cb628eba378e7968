import { calculateHash } from 'graphile-migrate/dist/hash.js';
import { parseMigrationText, serializeMigration } from 'graphile-migrate/dist/migration.js';
import { sluggify } from 'graphile-migrate/dist/sluggify.js';
import { DatabaseError } from 'pg';
import type { Config } from '../../config.ts';
import {
  type CommittedMigration,
  readApplied,
  readCommitted,
  requireOrder,
} from '../../database/migrations/committedMigrations.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { describeBuildError, describeFindings, isOfCluster, newFindings, readFindings } from './findings.ts';
import { readSchema } from './goldenFiles.ts';
import { lintMigration } from './lintMigration.ts';
import {
  blankCurrent,
  currentFile,
  finishMove,
  isBlank,
  moveToCommitted,
  moveToCurrent,
  readCurrent,
  runMissing,
  withMigrationLock,
} from './migrations.ts';
import { withShadow } from './shadow.ts';
import { locateError, requireOneStatement, sourceOf } from './sqlFileError.ts';

/**
 * `npm run db:commit -- "what it does"`: makes `migrations/current.sql` the next committed migration.
 * The file is empty afterwards. All migrations run on an empty database first, and the new one once more on the developer's own.
 * graphile-migrate's own command writes both files one after the other; if it is killed in between, both have the migration.
 *
 * @param given the message; a migration that was uncommitted still has its own
 * @returns what to do next, and the warnings of `audit.findings`
 * @throws {StartupError} when a migration fails, or the new one is unsafe, adds an error to `audit.findings` or makes a schema that cannot
 * be built. Then nothing is committed
 */
export async function commit(config: Config, given: string | undefined, log: Log): Promise<string[]> {
  await finishMove();
  const text = await readCurrent();
  const files = await readCommitted();
  requireOrder(files);
  const migration = isBlank(text) ? null : compose(text, given, files.at(-1));
  if (migration) await refuseUnsafe(text, files);
  const { ownerUrl, close } = await openDatabase(config.database, log, { migrates: false });
  try {
    if (!migration) return await endInterrupted(ownerUrl, files.at(-1));
    const warnings = await refuseErrors(ownerUrl, text);
    await commitOn(ownerUrl, migration, text);
    return [...warnings, next];
  } catch (error) {
    if (error instanceof StartupError) throw error;
    if (error instanceof DatabaseError) {
      const { message } = await locateError(currentFile, text, error, ownerUrl);
      throw new StartupError(`Nothing is committed.\n${message}`);
    }
    throw new StartupError('Nothing is committed.', { cause: error });
  } finally {
    await close();
  }
}

const next = 'Committed. Next: `npm run schema:update`, then review and commit what has changed.';

/** The committed file. @throws {StartupError} without a message of one line */
function compose(text: string, given: string | undefined, last: CommittedMigration | undefined) {
  // The sentence of an empty file is no part of a migration.
  const { headers, body } = parseMigrationText(currentFile, text.replace(blankCurrent, '').trimStart(), false);
  const { Previous: _, Hash: __, Message: former, ...others } = headers;
  const message = given ?? former;
  if (!message?.trim()) throw new StartupError('Say what the migration does: npm run db:commit -- "add doors"');
  if (/\p{Cc}/u.test(message) || message.length > 512)
    throw new StartupError('The message is one line of at most 512 characters.');
  const number = String(Number.parseInt(last?.number ?? '0', 10) + 1).padStart(6, '0');
  const hash = calculateHash(body, last?.hash ?? null);
  return {
    name: `${[number, sluggify(message)].filter(Boolean).join('-')}.sql`,
    text: serializeMigration(body, { Previous: last?.hash ?? '-', Hash: hash, Message: message, ...others }),
  };
}

/** Commits it and runs it on the developer's own database; puts it back where that fails. */
async function commitOn(ownerUrl: string, { name, text }: ReturnType<typeof compose>, current: string): Promise<void> {
  await withMigrationLock(ownerUrl, async (owner) => {
    // Those that others have committed: a failure of one of them is not the new one's.
    await runMissing(owner, ownerUrl);
    await moveToCommitted(name, text);
    await runMissing(owner, ownerUrl).catch(async (error: unknown) => {
      await moveToCurrent(name, current);
      throw error instanceof StartupError && error.cause instanceof DatabaseError ? error.cause : error;
    });
  });
}

/** The last command was killed between committing the migration and running it. @throws {StartupError} when it was not */
async function endInterrupted(ownerUrl: string, last: CommittedMigration | undefined): Promise<string[]> {
  return withMigrationLock(ownerUrl, async (owner) => {
    const isRun = (await readApplied(owner)).some(({ hash }) => hash === last?.hash);
    if (!last || isRun) throw new StartupError('migrations/current.sql has no statement: there is nothing to commit.');
    await runMissing(owner, ownerUrl);
    return [`${last.name} was committed by the command before, which did not end; the database has run it now.`, next];
  });
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

async function refuseUnsafe(sql: string, files: readonly CommittedMigration[]): Promise<void> {
  await requireOneStatement(currentFile, sql);
  const findings = await lintMigration(
    sql,
    files.map(({ body }) => body),
  );
  if (findings.length === 0) return;
  const lines = findings.flatMap(({ rule, line, message }) => [
    `migrations/current.sql:${line}: ${message} (${rule})`,
    ...sourceOf(sql, line),
  ]);
  const hint = 'If a statement is safe nevertheless, write above it: -- squawk-ignore <rule>';
  throw new StartupError(['Nothing is committed.', ...lines, hint].join('\n'));
}

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { calculateHash } from 'graphile-migrate/dist/hash.js';
import { parseMigrationText } from 'graphile-migrate/dist/migration.js';
import type { ClientBase, Pool } from 'pg';
import { hasCode, StartupError } from '../../errors/errors.ts';

/** A committed file of graphile-migrate: header, empty line, and the text hashed with the hash before. */
export type CommittedMigration = {
  /** The file's name, such as `000023-add-doors.sql`. */
  readonly name: string;
  /** Its number in the database, such as `000023.sql`. */
  readonly number: string;
  readonly hash: string;
  /** The hash of the migration that it was committed after; empty for the first. */
  readonly previous: string;
  readonly message: string;
  readonly body: string;
  /** Whether the text is the committed one, or declares by `AllowInvalidHash` that it is not. */
  readonly isIntact: boolean;
};

/** The files of `migrations/committed`, by name. @throws {StartupError} when one is no text in UTF-8 or has no valid header */
export async function readCommitted(): Promise<CommittedMigration[]> {
  const folder = join(migrationsFolder, 'committed');
  const names = (await readdir(folder)).filter((name) => /^\d+.*\.sql$/.test(name)).sort();
  return Promise.all(names.map(async (name) => parse(name, await readPlainText(join(folder, name)))));
}

function parse(name: string, text: string): CommittedMigration {
  const { headers, body } = parseHeader(name, text);
  const hash = headers.Hash ?? '';
  const previous = headers.Previous?.replace(/^-$/, '') ?? '';
  return {
    name,
    number: `${/^\d+/.exec(name)}.sql`,
    hash,
    previous,
    message: headers.Message ?? '',
    body,
    isIntact: 'AllowInvalidHash' in headers || hash === calculateHash(body, previous),
  };
}

function parseHeader(name: string, text: string) {
  try {
    return parseMigrationText(name, text, false);
  } catch (error) {
    // The message names the file.
    throw new StartupError(`${error instanceof Error ? error.message : error}. Get the file back from git.`);
  }
}

/** The files that no other was committed after: one, unless two branches have met. */
export const lastOnes = (files: readonly CommittedMigration[]): CommittedMigration[] =>
  files.filter(({ hash }) => !files.some(({ previous }) => previous === hash));

/** The fault in their order, and the remedy; null when each was committed after the one before. */
export function brokenOrder(files: readonly CommittedMigration[]): string | null {
  for (const [place, file] of files.entries()) {
    const before = files[place - 1];
    if (!before || file.previous === before.hash) continue;
    const remedy = `Two branches have met: \`npm run db:uncommit -- <file>\` takes the one that is not merged yet back to current.sql, \`npm run db:commit\` gives it the next number.`;
    return before.number === file.number
      ? `${before.name} and ${file.name} have the same number. ${remedy}`
      : `${file.name} was not committed after ${before.name}. ${remedy}`;
  }
  return null;
}

/** @throws {StartupError} when the files have no order in which to run */
export function requireOrder(files: readonly CommittedMigration[]): void {
  const problem = brokenOrder(files);
  if (problem) throw new StartupError(problem);
}

/** A migration that the database has run: its file's number, such as `000023.sql`, and its hash. */
type AppliedMigration = { readonly filename: string; readonly hash: string };

/** The migrations that graphile-migrate has recorded; none if it never ran. */
export async function readApplied(owner: ClientBase | Pool): Promise<AppliedMigration[]> {
  const { rows } = await owner.query(`select from pg_class where oid = to_regclass('graphile_migrate.migrations')`);
  if (rows.length === 0) return [];
  return (await owner.query<AppliedMigration>('select filename, hash from graphile_migrate.migrations')).rows;
}

/** The first file whose number the database has run with another text, of another branch or version. */
export const findOther = (
  files: readonly CommittedMigration[],
  applied: readonly AppliedMigration[],
): CommittedMigration | undefined =>
  files.find((file) => applied.some(({ filename, hash }) => filename === file.number && hash !== file.hash));

/**
 * Says which migrations the database has run that this version does not have, in words for an operator; null when there is none.
 * The database serves this version nevertheless, while servers are replaced by newer ones, and after going back to older ones.
 */
export async function readAhead(owner: ClientBase | Pool): Promise<string | null> {
  const known = new Set((await readCommitted()).map(({ number }) => number));
  const ahead = (await readApplied(owner)).map(({ filename }) => filename).filter((number) => !known.has(number));
  if (ahead.length === 0) return null;
  return `The database has every migration of this version, and ${ahead.sort().join(', ')} of a newer one.`;
}

/** The lints and invariants of this version, in the order in which they are made. */
export async function readLints(): Promise<{ readonly name: string; readonly text: string }[]> {
  const folder = join(migrationsFolder, 'lints');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(names.map(async (name) => ({ name, text: await readPlainText(join(folder, name)) })));
}

/** Beside `src`, whatever the working directory is. */
export const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url));

/**
 * The text of a migration's file, the same whichever editor or git wrote it: without a byte order mark, and with LF.
 * A hash covers this text, so that a file has one hash on every machine.
 *
 * @throws {StartupError} when it is not UTF-8
 */
export const readPlainText = async (file: string): Promise<string> => (await readBoth(file)).text;

/**
 * Works with a folder of migrations in which each file is plain text, for graphile-migrate, which reads the files itself.
 * That is the folder of the migrations, or a copy of it while the work lasts.
 */
export async function withPlainFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const current = await read('current.sql').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  });
  const files = [...(await readCommittedFiles()), ...(current ? [current] : [])];
  if (files.every(({ isPlain }) => isPlain)) return work(migrationsFolder);
  const copy = await mkdtemp(join(tmpdir(), 'migrations-'));
  try {
    for (const { path, text } of files) {
      await mkdir(dirname(join(copy, path)), { recursive: true });
      await writeFile(join(copy, path), text);
    }
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

type Plain = { readonly text: string; readonly isPlain: boolean };
type PlainFile = Plain & { readonly path: string };

/** Paths are those within the folder. */
async function readCommittedFiles(): Promise<PlainFile[]> {
  const names = (await readdir(join(migrationsFolder, 'committed'))).filter((name) => name.endsWith('.sql'));
  return Promise.all(names.map((name) => read(join('committed', name))));
}

const read = async (path: string): Promise<PlainFile> => ({ path, ...(await readBoth(join(migrationsFolder, path))) });

async function readBoth(file: string): Promise<Plain> {
  const bytes = await readFile(file).catch((error: unknown) => {
    if (!hasCode(error, 'EISDIR')) throw error;
    throw new StartupError(`${relative(process.cwd(), file)} is a folder; a file must be there.`);
  });
  const text = decode(bytes)?.replaceAll('\r\n', '\n');
  if (text === undefined)
    throw new StartupError(`${relative(process.cwd(), file)} is not text in UTF-8, perhaps UTF-16; save it as UTF-8.`);
  return { text, isPlain: Buffer.from(text).equals(bytes) };
}

/** Without the byte order mark. UTF-16 without one has zeros, which no text of PostgreSQL may have. */
function decode(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

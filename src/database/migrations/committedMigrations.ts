import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { calculateHash } from 'graphile-migrate/dist/hash.js';
import { parseMigrationText } from 'graphile-migrate/dist/migration.js';
import { StartupError } from '../../errors/startupError.ts';
import { migrationsFolder, readPlainText } from './plainText.ts';

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

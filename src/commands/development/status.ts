import type { Client } from 'pg';
import type { Config } from '../../config.ts';
import {
  brokenOrder,
  type CommittedMigration,
  readApplied,
  readCommitted,
} from '../../database/migrations/committedMigrations.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { withClient } from '../../database/pool/transactions.ts';
import type { Log } from '../../log.ts';
import { objectTexts, readObjectParts } from './databaseObjects.ts';
import { staleGoldenFiles } from './goldenFiles.ts';
import { isBlank, readCurrent } from './migrations.ts';
import { withShadow } from './shadow.ts';

/**
 * `npm run db:status`: where migrations, database and golden files differ, and the remedy.
 *
 * @returns at most 20 lines, what is one line first; none when everything agrees
 */
export async function status(config: Config, log: Log): Promise<string[]> {
  const database = await openDatabase(config.database, log, { migrates: false });
  const lines = await withClient(database.ownerUrl, (client) => findDifferences(client, database.ownerUrl)).finally(
    database.close,
  );
  const more = lines.length - maxLines + 1;
  return more > 1 ? [...lines.slice(0, -more), `  … and ${more} more`] : lines;
}

const maxLines = 20;

async function findDifferences(client: Client, ownerUrl: string): Promise<string[]> {
  const files = await readCommitted();
  const current = await readCurrent();
  const applied = new Map((await readApplied(client)).map(({ filename, hash }) => [filename, hash]));

  const broken = [...changedFiles(files), ...[brokenOrder(files)].filter((problem) => problem !== null)];
  const ofCurrent = unlikeCurrent(current, await readLastCurrent(client));
  const uncommitted = isBlank(current)
    ? []
    : ['migrations/current.sql is not committed: npm run db:commit -- "what it does"'];
  const missing = missingMigrations(files, applied);
  // Further differences would only repeat these.
  if (broken.length > 0) return [...broken, ...ofCurrent, ...uncommitted, ...missing];

  return withShadow(ownerUrl, async ({ url, applyCurrent }) => {
    const committed = await withClient(url, readObjectParts);
    // `schema:update` writes a file, and git then shows its differences.
    const stale = (await staleGoldenFiles(url, committed)).map(
      ({ name }) => `${name} is not what the migrations give: npm run schema:update`,
    );
    const known = [...ofCurrent, ...uncommitted, ...stale, ...missing];
    if (ofCurrent.length + missing.length > 0) return known;
    await applyCurrent();
    // Reading the objects takes as long as making them.
    const made = isBlank(current) ? committed : await withClient(url, readObjectParts);
    return [...known, ...foreignObjects(objectTexts(made), objectTexts(await withClient(ownerUrl, readObjectParts)))];
  });
}

const changedFiles = (files: readonly CommittedMigration[]) =>
  files
    .filter(({ isIntact }) => !isIntact)
    .map(({ name }) => `${name} was changed after it was committed: put it back, and write another migration`);

/** The text that `npm run dev` ran last. */
async function readLastCurrent(client: Client): Promise<string> {
  const { rows } = await client.query("select to_regclass('graphile_migrate.current') is not null as exists");
  if (!rows[0]?.exists) return '';
  const current = await client.query<{ content: string }>('select content from graphile_migrate.current');
  return current.rows[0]?.content ?? '';
}

function missingMigrations(files: readonly CommittedMigration[], applied: ReadonlyMap<string, string>): string[] {
  const known = new Set(files.map(({ number }) => number));
  return [
    ...files
      .filter(({ number }) => !applied.has(number))
      .map(({ name }) => `${name} is committed but not in the database: npm run db:migrate`),
    ...files
      .filter(({ number, hash }) => applied.has(number) && applied.get(number) !== hash)
      .map(({ name }) => `${name} is not what the database ran under this number: npm run db:reset`),
    ...[...applied.keys()]
      .filter((number) => !known.has(number))
      .map((number) => `The database ran a migration ${number} that is not here: get its branch, or npm run db:reset`),
  ];
}

function unlikeCurrent(current: string, applied: string): string[] {
  if (current.trim() === applied.trim() || (isBlank(current) && isBlank(applied))) return [];
  return ['migrations/current.sql is not what the database ran last: npm run dev, which says what is wrong with it'];
}

/** Objects that only the database has, or only the migrations make. */
function foreignObjects(made: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...made.keys(), ...found.keys()])].sort();
  const lines = paths.flatMap((path) =>
    compareLines(made.get(path), found.get(path)).map((line) => {
      const place = line.startsWith('+') ? 'only in the database' : 'not in the database';
      return `${place}, ${path.replace(/\.sql$/, '')}: ${line.slice(2)}`;
    }),
  );
  const summary =
    'The database is not what the migrations make: put it into migrations/current.sql, or npm run db:reset';
  return lines.length > 0 ? [summary, ...lines.map(shorten)] : [];
}

/**
 * The lines that only the database has (`+`), and those that only the migrations make (`-`).
 * As sets, so a line that has only moved is no difference. If one side has no text, the other's first line stands for all.
 */
export function compareLines(made = '', found = ''): string[] {
  if (made === '' || found === '') return [`${found ? '+' : '-'} ${(found || made).split('\n', 1)}`];
  const [old, given] = [linesOf(made), linesOf(found)];
  return [
    ...[...given.difference(old)].map((line) => `+ ${line.trim()}`),
    ...[...old.difference(given)].map((line) => `- ${line.trim()}`),
  ];
}

/** Without what the order of the columns decides: a column that was dropped and added again is the last. */
const linesOf = (text: string) =>
  new Set(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.replace(/,$/, '').replace(/(?<=^grant .*)\([^()]*\)/g, sorted)),
  );

const sorted = (list: string) => `(${list.slice(1, -1).split(', ').sort().join(', ')})`;

/** A detail, on one line. */
const shorten = (line: string) => `  ${line.length > maxLength ? `${line.slice(0, maxLength)} …` : line}`;

const maxLength = 160;

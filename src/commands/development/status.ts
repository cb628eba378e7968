import type { Client } from 'pg';
import type { Config } from '../../config.ts';
import { readApplied } from '../../database/migrations/appliedMigrations.ts';
import { brokenOrder, type CommittedMigration, readCommitted } from '../../database/migrations/committedMigrations.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { withClient } from '../../database/pool/withClient.ts';
import type { Log } from '../../log.ts';
import { catalogue } from './catalogue.ts';
import { fitLines } from './fitLines.ts';
import { compareLines, staleGoldenFiles } from './goldenFiles.ts';
import { readCurrent } from './migrations.ts';
import { withShadow } from './shadow.ts';

/**
 * `npm run db:status`: where migrations, database and golden files have drifted apart, and the remedy.
 *
 * @returns at most 20 lines, of each kind of difference some; none when everything fits
 */
export async function status(config: Config, log: Log): Promise<string[]> {
  return fitLines(await findDifferences(config, log), maxLines);
}

const maxLines = 20;

/** The lines of each kind of difference. */
async function findDifferences(config: Config, log: Log): Promise<string[][]> {
  const database = await openDatabase(config.database, log, { migrates: false });
  const find = async (client: Client) => {
    const files = await readCommitted();
    const current = await readCurrent();
    const applied = new Map((await readApplied(client)).map(({ filename, hash }) => [filename, hash]));

    const broken = [...changedFiles(files), ...[brokenOrder(files)].filter((problem) => problem !== null)];
    const unlike = [...missingMigrations(files, applied), unlikeCurrent(current, await readLastCurrent(client))];
    const uncommitted = isBlank(current)
      ? []
      : ['migrations/current.sql is not committed: npm run db:commit -- "what it does"'];
    const known = [broken, ...unlike, uncommitted];
    // The rest would only say the same once more.
    if (broken.length > 0) return known;

    const ofContent = await withShadow(database.ownerUrl, async ({ url, applyCurrent }) => {
      const stale = (await staleGoldenFiles(url)).map((file) => [
        `${file.name} is not what the migrations give: npm run schema:update`,
        ...compareLines(file).map(shorten),
      ]);
      if (unlike.flat().length > 0) return stale;
      await applyCurrent();
      return [...stale, await foreignObjects(client, url)];
    });
    return [...known, ...ofContent];
  };
  return withClient(database.ownerUrl, find).finally(database.close);
}

const changedFiles = (files: readonly CommittedMigration[]) =>
  files
    .filter(({ isIntact }) => !isIntact)
    .map(({ name }) => `${name} was changed after it was committed: put it back, and write another migration`);

/** What `npm run dev` ran last. */
async function readLastCurrent(client: Client): Promise<string> {
  const { rows } = await client.query("select to_regclass('graphile_migrate.current') is not null as exists");
  if (!rows[0]?.exists) return '';
  const current = await client.query<{ content: string }>('select content from graphile_migrate.current');
  return current.rows[0]?.content ?? '';
}

function missingMigrations(files: readonly CommittedMigration[], applied: ReadonlyMap<string, string>): string[][] {
  const known = new Set(files.map(({ number }) => number));
  return [
    files
      .filter(({ number }) => !applied.has(number))
      .map(({ name }) => `${name} is committed but not in the database: npm run db:migrate`),
    files
      .filter(({ number, hash }) => applied.has(number) && applied.get(number) !== hash)
      .map(({ name }) => `${name} is not what the database ran under this number: npm run db:reset`),
    [...applied.keys()]
      .filter((number) => !known.has(number))
      .map((number) => `The database ran a migration ${number} that is not here: get its branch, or npm run db:reset`),
  ];
}

function unlikeCurrent(current: string, applied: string): string[] {
  if (current.trim() === applied.trim() || (isBlank(current) && isBlank(applied))) return [];
  return ['migrations/current.sql is not what the database ran last: npm run dev, which says what is wrong with it'];
}

const isBlank = (sql: string) => sql.replace(/--.*|\/\*[\s\S]*?\*\//g, '').trim() === '';

/** What the database has and the migrations do not make, or the other way round. */
async function foreignObjects(client: Client, shadowUrl: string): Promise<string[]> {
  const [made, found] = await Promise.all([withClient(shadowUrl, describe), describe(client)]);
  const lines = [
    ...found.filter((line) => !made.includes(line)).map((line) => `only in the database: ${line}`),
    ...made.filter((line) => !found.includes(line)).map((line) => `not in the database: ${line}`),
  ].map(shorten);
  const summary =
    'The database is not what the migrations make: put it into migrations/current.sql, or npm run db:reset';
  return lines.length > 0 ? [summary, ...lines] : [];
}

/** A detail, on one line. */
const shorten = (line: string) => `  ${line.length > maxLength ? `${line.slice(0, maxLength)} …` : line}`;

const maxLength = 160;

async function describe(client: Client): Promise<string[]> {
  const { rows } = await client.query<Record<string, string | null>>(catalogue);
  return rows.map((row) => Object.values(row).filter(Boolean).join(' ').replace(/\s+/g, ' '));
}

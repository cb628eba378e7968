import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Config } from '../config.ts';
import { migrationsFolder } from '../database/migrate.ts';
import type { Log } from '../log.ts';
import { catalogue } from './catalogue.ts';
import { goldenFiles } from './goldenFiles.ts';
import { readCurrent } from './migrations.ts';
import { openDevelopmentDatabase } from './openDevelopmentDatabase.ts';
import { withShadow } from './shadow.ts';

/**
 * `npm run db:status`: where migrations, database and golden files have drifted apart, and what brings them together again.
 *
 * @returns one entry for each difference; none when everything fits
 */
export async function status(config: Config, log: Log): Promise<string[]> {
  const database = await openDevelopmentDatabase(config.database, log);
  const client = new Client({ connectionString: database.ownerUrl });
  try {
    await client.connect();
    const files = await readCommitted();
    const current = await readCurrent();
    const applied = await readApplied(client);

    const changed = changedFiles(files);
    const ofDatabase = [...missingMigrations(files, applied.migrations), ...unlikeCurrent(current, applied.current)];
    const uncommitted = isBlank(current)
      ? []
      : ['migrations/current.sql is not committed: npm run db:commit -- "what it does"'];
    // The rest would only say the same once more.
    if (changed.length > 0) return [...changed, ...ofDatabase, ...uncommitted];

    const ofContent = await withShadow(database.ownerUrl, async ({ url, applyCurrent }) => {
      const untrue = await untrueGoldenFiles(url);
      if (ofDatabase.length > 0) return untrue;
      await applyCurrent();
      return [...untrue, ...(await foreignObjects(client, url))];
    });
    return [...ofDatabase, ...uncommitted, ...ofContent];
  } finally {
    await client.end();
    await database.close();
  }
}

type Committed = { name: string; number: string; hash: string; isIntact: boolean };

/** graphile-migrate's own files: a header, an empty line, and what its hash covers together with the hash before. */
async function readCommitted(): Promise<Committed[]> {
  const folder = join(migrationsFolder, 'committed');
  const names = (await readdir(folder)).filter((name) => /^\d+.*\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      const header = (key: string) => new RegExp(`^--! ${key}: (\\S+)$`, 'm').exec(text)?.[1] ?? '';
      const previous = header('Previous').replace(/^-$/, '');
      const body = text.replace(/^(--! [A-Z].*\n)+/, '').trim();
      const hash = `sha1:${createHash('sha1')
        .update(`${`${previous}\n${body}`.trim()}\n`)
        .digest('hex')}`;
      return { name, number: `${/^\d+/.exec(name)}.sql`, hash: header('Hash'), isIntact: hash === header('Hash') };
    }),
  );
}

const changedFiles = (files: readonly Committed[]) =>
  files
    .filter(({ isIntact }) => !isIntact)
    .map(({ name }) => `${name} was changed after it was committed: put it back, and write another migration`);

type Applied = { migrations: Map<string, string>; current: string };

async function readApplied(client: Client): Promise<Applied> {
  const { rows } = await client.query("select to_regclass('graphile_migrate.current') is not null as exists");
  if (!rows[0]?.exists) return { migrations: new Map(), current: '' };
  const migrations = await client.query<{ filename: string; hash: string }>(
    'select filename, hash from graphile_migrate.migrations',
  );
  const current = await client.query<{ content: string }>('select content from graphile_migrate.current');
  return {
    migrations: new Map(migrations.rows.map(({ filename, hash }) => [filename, hash])),
    current: current.rows[0]?.content ?? '',
  };
}

function missingMigrations(files: readonly Committed[], applied: ReadonlyMap<string, string>): string[] {
  const known = new Set(files.map(({ number }) => number));
  return [
    ...files.flatMap(({ name, number, hash }) => {
      const ran = applied.get(number);
      if (ran === undefined) return [`${name} is committed but not in the database: npm run db:migrate`];
      return ran === hash ? [] : [`${name} is not what the database ran under this number: npm run db:reset`];
    }),
    ...[...applied.keys()]
      .filter((number) => !known.has(number))
      .map((number) => `The database ran a migration ${number} that is not here: get its branch, or npm run db:reset`),
  ];
}

function unlikeCurrent(current: string, applied: string): string[] {
  if (current.trim() === applied.trim() || (isBlank(current) && isBlank(applied))) return [];
  return ['migrations/current.sql is not what the database ran last: npm run dev, which says what is wrong with it'];
}

const isBlank = (sql: string) => sql.replace(/--.*|\/\*[\s\S]*?\*\//g, '').trim() === '';

async function untrueGoldenFiles(url: string): Promise<string[]> {
  const untrue: string[] = [];
  for (const file of await goldenFiles(url)) {
    if (!(await file.isTrue())) untrue.push(`${file.name} is not what the migrations give: npm run schema:update`);
  }
  return untrue;
}

/** What the database has and the migrations do not make, or the other way round. */
async function foreignObjects(client: Client, shadowUrl: string): Promise<string[]> {
  const shadow = new Client({ connectionString: shadowUrl });
  await shadow.connect();
  try {
    const [made, found] = await Promise.all([describe(shadow), describe(client)]);
    return [
      ...found.filter((line) => !made.includes(line)).map((line) => `only in the database: ${line}`),
      ...made.filter((line) => !found.includes(line)).map((line) => `not in the database: ${line}`),
    ].map((line) => `${line} (put it into migrations/current.sql, or npm run db:reset)`);
  } finally {
    await shadow.end();
  }
}

async function describe(client: Client): Promise<string[]> {
  const { rows } = await client.query<Record<string, string | null>>(catalogue);
  return rows.map((row) => Object.values(row).filter(Boolean).join(' ').replace(/\s+/g, ' '));
}

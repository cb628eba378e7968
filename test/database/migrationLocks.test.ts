import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins, type TestLogins } from '../support/logins.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';
import { startProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

const addNote = 'alter table app_public.units add column note text;';
const indexNames =
  '--! no-transaction\ncreate index concurrently if not exists by_name_idx on app_public.units (name);';

let copy: MigrationsCopy;
let database: TestDatabase;
let logins: TestLogins;
let holder: Client;
let logs: string[];
const log = createLog('info', { write: (line) => logs.push(line) });

beforeEach(async () => {
  copy = await createMigrationsCopy();
  database = await createTestDatabase();
  logins = nameLogins(database);
  holder = new Client({ connectionString: database.ownerUrl, application_name: 'holder' });
  await holder.connect();
  logs = [];
});
afterEach(async () => {
  await holder.end();
  await database.drop();
  await logins.drop();
  await copy.remove();
});

test('readers wait less than half a second while a migration waits for a long one', async () => {
  await copy.commit('add note', addNote);
  await holder.query('begin; select from app_public.units');
  const startedAt = performance.now();
  const migrating = copy.migrate(logins, log);
  const waits = readUntil(migrating);
  await delay(2500);

  await holder.query('commit');
  await migrating;

  expect(performance.now() - startedAt).toBeGreaterThan(2500);
  expect(logs.filter((line) => line.includes('waits for a lock'))).toHaveLength(1);
  const { most, count } = await waits;
  expect(most).toBeGreaterThan(50);
  expect(most).toBeLessThan(500);
  expect(count).toBeGreaterThan(20);
  expect(await columns()).toContain('note');
});

test('a migration that gets no lock gives up at its deadline, changes nothing and tells who may hold it', async () => {
  const name = await copy.commit('add note', `create table public.made (); ${addNote}`);
  await holder.query('begin; select from app_public.units');
  const before = await applied();

  const refused = copy.migrate(logins, log, { lockDeadlineMs: 1000 });

  await expect(refused).rejects.toThrow(
    new RegExp(
      `${name} failed and changed nothing: .* within 1 s.*\n {2}pid \\d+ of \\S+ \\(holder\\), idle in transaction for \\d+ s`,
    ),
  );
  expect(await applied()).toEqual(before);
  expect(await columns()).not.toContain('note');
  expect((await database.owner.query(`select to_regclass('public.made') as made`)).rows).toEqual([{ made: null }]);

  await holder.query('commit');
  await copy.migrate(logins, log, { lockDeadlineMs: 1000 });
  expect(await columns()).toContain('note');
});

test('a migration without a transaction waits for others once, without beginning again', async () => {
  await copy.commit('index names', indexNames);
  await holder.query('begin isolation level repeatable read; select from app_public.units');
  const migrating = copy.migrate(logins, log);
  await until(async () => (await stateOfIndex()) !== null);
  const oid = await stateOfIndex();
  await delay(1500);

  await holder.query('commit');
  await migrating;

  expect(await stateOfIndex()).toEqual({ ...oid, indisvalid: true });
  expect(logs.join()).not.toContain('waits for a lock');
});

test('what is left of an index is not taken for the index', async () => {
  await database.owner.query(indexNames.replace(/^--!.*\n/, ''));
  await database.owner.query(
    `update pg_index set indisvalid = false where indexrelid = 'app_public.by_name_idx'::regclass`,
  );
  const left = await stateOfIndex();
  await copy.commit('index names', indexNames);

  await copy.migrate(logins, log);

  expect(left).toMatchObject({ indisvalid: false });
  expect(await stateOfIndex()).toMatchObject({ indisvalid: true });
});

test.each([
  ['in a transaction', `select pg_sleep(1); create table public.once as select 1 as one;`],
  ['concurrently', indexNames],
])('a migration that is killed while it works %s is run once, by the next', async (_, sql) => {
  const name = await copy.commit('killed', sql);
  await holder.query('begin isolation level repeatable read; select from app_public.units');
  const urls = {
    DATABASE_URL: logins.ownerUrl,
    AUTH_DATABASE_URL: logins.authUrl,
    OAUTH_DATABASE_URL: logins.oauthUrl,
  };
  const killed = startProcess(['migrate'], { PATH: process.env.PATH ?? '', ...urls }, copy.root);
  await until(async () => (await working()) > 0);
  killed.signal('SIGKILL');
  await killed.exited;

  const next = copy.migrate(logins, log);
  await holder.query('commit');
  await next;

  expect((await applied()).filter((filename) => name.startsWith(filename.slice(0, 6)))).toHaveLength(1);
  if (sql.includes('concurrently')) expect(await stateOfIndex()).toMatchObject({ indisvalid: true });
});

/** Reads again and again; how long the longest took. */
async function readUntil(end: Promise<unknown>): Promise<{ most: number; count: number }> {
  const reader = new Client({ connectionString: database.ownerUrl });
  await reader.connect();
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  end.then(over, over);
  const durations: number[] = [];
  while (!isOver) {
    const startedAt = performance.now();
    await reader.query('select count(*) from app_public.units');
    durations.push(performance.now() - startedAt);
    await delay(10);
  }
  await reader.end();
  return { most: Math.max(...durations), count: durations.length };
}

async function columns(): Promise<string[]> {
  const { rows } = await database.owner.query<{ name: string }>(
    `select attname::text as name from pg_attribute where attrelid = 'app_public.units'::regclass and attnum > 0`,
  );
  return rows.map(({ name }) => name);
}

async function applied(): Promise<string[]> {
  const { rows } = await database.owner.query<{ filename: string }>(
    'select filename from graphile_migrate.migrations order by 1',
  );
  return rows.map(({ filename }) => filename);
}

async function stateOfIndex(): Promise<{ oid: number; indisvalid: boolean } | null> {
  const { rows } = await database.owner.query(
    `select indexrelid as oid, indisvalid from pg_index where indexrelid = to_regclass('app_public.by_name_idx')`,
  );
  return rows[0] ?? null;
}

/** Statements of migrations that are under way. */
async function working(): Promise<number> {
  const { rows } = await database.owner.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name = 'graph-query-service migrate' and state = 'active'
       and query ~ '(pg_sleep|concurrently if)'`,
  );
  return rows[0]?.count ?? 0;
}

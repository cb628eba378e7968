import { readDatabaseObjects } from '../../src/commands/development/databaseObjects.ts';
import { helperUrlOf } from '../../src/commands/development/helperDatabase.ts';
import { databaseName } from '../../src/commands/development/migrations.ts';
import { compareLines, status } from '../../src/commands/development/status.ts';
import { loadConfig } from '../../src/config.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Without what is said of the golden files, which have tests of their own. */
async function drift(): Promise<string[]> {
  const config = loadConfig({ DATABASE_URL: database.ownerUrl }, 'migrations');
  const lines = await status(config, createLog('silent'));
  return lines.filter((line) => !line.includes('schema:update'));
}

test('what was taken back is no drift, nor is a column that was added and dropped, nor what an extension brings', async () => {
  await database.owner.query(`
    alter table app_public.users add by_hand text; alter table app_public.users drop by_hand;
    create extension citext schema app_public`);

  expect(await drift()).toEqual([]);

  const { rows } = await database.owner.query('select from pg_database where datname = $1', [
    databaseName(helperUrlOf(database.ownerUrl, 'shadow')),
  ]);
  // The shadow database is gone.
  expect(rows).toEqual([]);
  await database.owner.query('drop extension citext');
});

test('what was done by hand is found, both ways, and listed in 20 lines, however much it is', async () => {
  await database.owner.query(`
    create index by_hand_idx on app_public.users (locale);
    comment on column app_public.units.name is 'By hand.';
    do $$ begin for n in 1..30 loop execute format('create table app_public.without_migration_%s (id int)', n); end loop; end $$`);

  const lines = await drift();

  await database.owner.query(`
    drop index app_public.by_hand_idx;
    comment on column app_public.units.name is 'Name.';
    do $$ begin for n in 1..30 loop execute format('drop table app_public.without_migration_%s', n); end loop; end $$`);
  expect(lines.slice(0, 4)).toEqual([
    'The database is not what the migrations make: put it into migrations/current.sql, or npm run db:reset',
    "  only in the database, app_public/units: comment on column app_public.units.name is 'By hand.';",
    expect.stringMatching(
      /^ {2}not in the database, app_public\/units: comment on column app_public\.units\.name is 'Name\./,
    ),
    '  only in the database, app_public/users: CREATE INDEX by_hand_idx ON app_public.users USING btree (locale);',
  ]);
  expect(lines).toHaveLength(20);
  expect(lines[4]).toContain('only in the database, app_public/without_migration_1');
  expect(lines.at(-1)).toBe('  … and 15 more');
  for (const line of lines) expect(line.length).toBeLessThan(170);
});

test('a column that was dropped and added again is no drift, though it is the last now', async () => {
  const moved = (column: string) => `
    create table public.by_hand as select from pg_class limit 0;
    alter table public.by_hand add a text, add b text, add c text;
    alter table public.by_hand drop ${column};
    alter table public.by_hand add ${column} text;
    grant select (a, b), update (b, c) on public.by_hand to graph_app`;
  const template = await createTestDatabase();
  await template.owner.query(moved('c'));
  await database.owner.query(moved('a'));

  const [made, found] = await Promise.all(
    [template, database].map(({ ownerUrl }) => withClient(ownerUrl, readDatabaseObjects)),
  );
  const [one = '', other = ''] = [made, found].map((objects) => objects?.get('public/by_hand.sql'));

  expect(one).not.toBe(other);
  expect(compareLines(one, other)).toEqual([]);
  expect(compareLines(one, other.replace('(b, a)', '(a)'))).toEqual([
    '+ grant select (a), update (b, c) on public.by_hand to graph_app;',
    '- grant select (a, b), update (b, c) on public.by_hand to graph_app;',
  ]);
  await database.owner.query('drop table public.by_hand');
  await template.drop();
});

test('what the database ran is compared with the committed migrations', async () => {
  const migrations = 'graphile_migrate.migrations';
  const newest = `(select max(filename) from ${migrations})`;
  await database.owner.query(`create table public.kept as select * from ${migrations}`);
  await database.owner.query(`
    delete from ${migrations} where filename = ${newest};
    update ${migrations} set hash = 'sha1:0' where filename = ${newest};
    insert into ${migrations} (hash, previous_hash, filename) values ('sha1:1', null, '999999.sql')`);

  const lines = await drift();

  await database.owner.query(`
    delete from ${migrations};
    insert into ${migrations} select * from public.kept;
    drop table public.kept`);
  expect(lines).toEqual([
    expect.stringMatching(/^\S+\.sql is committed but not in the database: npm run db:migrate$/),
    expect.stringMatching(/^\S+\.sql is not what the database ran under this number: npm run db:reset$/),
    expect.stringMatching(/^The database ran a migration 999999\.sql that is not here/),
  ]);
});

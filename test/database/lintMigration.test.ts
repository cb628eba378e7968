import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lintMigration } from '../../src/commands/development/lintMigration.ts';
import { readLaterMigrations } from '../support/laterMigrations.ts';
import { createMigrationsCopy } from '../support/migrationsCopy.ts';
import { startProcess } from '../support/process.ts';

test('no migration locks a table for long, rewrites it or breaks those who use it', async () => {
  const files = await readLaterMigrations();
  const findings = await Promise.all(files.map(async ({ name, text }) => [name, await lintMigration(text)]));

  expect(findings).toEqual(files.map(({ name }) => [name, []]));
  expect(files.map(({ name }) => name)).toContain('current.sql');
});

// Each rule with the migration that it is for, and with the one that does the same safely.
test.each<[string, string, string]>([
  [
    'adding-required-field',
    'alter table app_public.users add column nickname text not null;',
    "alter table app_public.users add column nickname text not null default '';",
  ],
  [
    'adding-field-with-default',
    'alter table app_public.users add column seen_at timestamptz default clock_timestamp();',
    'alter table app_public.users add column seen_at timestamptz;',
  ],
  [
    'adding-not-nullable-field',
    'alter table app_public.units alter column external_identifier set not null;',
    'alter table app_public.units add constraint units_external_identifier_given check (external_identifier is not null) not valid;',
  ],
  [
    'ban-drop-not-null',
    'alter table app_public.users alter column full_name drop not null;',
    "alter table app_public.users alter column full_name set default '';",
  ],
  [
    'require-concurrent-index-creation',
    'create index users_locale_idx on app_public.users (organization_id, locale);',
    '--! no-transaction\ncreate index concurrently if not exists users_locale_idx on app_public.users (organization_id, locale);',
  ],
  [
    'require-concurrent-index-deletion',
    'drop index app_public.users_full_name_idx;',
    '--! no-transaction\ndrop index concurrently if exists app_public.users_full_name_idx;',
  ],
  [
    'require-concurrent-reindex',
    'reindex table app_public.users;',
    '--! no-transaction\nreindex table concurrently app_public.users;',
  ],
  [
    'prefer-robust-stmts',
    '--! no-transaction\ncreate index concurrently users_locale_idx on app_public.users (organization_id, locale);',
    '--! no-transaction\ncreate index concurrently if not exists users_locale_idx on app_public.users (organization_id, locale);',
  ],
  [
    'ban-drop-table',
    'drop table app_public.cards;',
    'drop table if exists app_public.doors;\ncreate table app_public.doors (id uuid);',
  ],
  [
    'ban-drop-table',
    'drop table if exists app_public.cards;\ncreate table app_public.doors (id uuid);',
    'drop view app_public.doors;',
  ],
  [
    'ban-drop-table',
    'drop table if exists app_public.doors, app_public.cards;\ncreate table app_public.doors (id uuid);',
    'drop table if exists app_public.doors, app_public.keys;\ncreate table app_public.doors (id uuid);\ncreate table app_public.keys (id uuid);',
  ],
  // Names are compared as PostgreSQL understands them.
  [
    'ban-drop-table',
    'drop table if exists app_public.crates;\ncreate table "app_public"."Crates" (id uuid);',
    'drop table if exists app_public.crates;\ncreate table "app_public"."crates" (id uuid);',
  ],
  [
    'ban-drop-table',
    'drop table if exists APP_PUBLIC.Crates;\ncreate table app_public."CRATES" (id uuid);',
    'drop table if exists APP_PUBLIC.Crates cascade;\ncreate unlogged table app_public . U&"\\0063rates" (id uuid);',
  ],
  [
    'ban-drop-table',
    'set local search_path = app_public;\ndrop table if exists crates;\ncreate table app_hidden.crates (id uuid);',
    'set local search_path = app_public, pg_temp;\ndrop table if exists crates;\ncreate table "app_public".crates (id uuid);',
  ],
  [
    'ban-drop-table',
    'drop table if exists crates;\ncreate temporary table crates (id uuid);',
    'drop table if exists crates;\ncreate table public.crates (id uuid);',
  ],
  [
    'ban-drop-table',
    'drop table if exists app_public.doors; drop table if exists app_public.cards; create table app_public.doors (id uuid);',
    'drop table if exists app_public.doors; /* é */ drop table if exists "app_public".keys, app_public."a b"; create table app_public.doors (id uuid); create table app_public.keys as select 1 as one; create table app_public."a b" ();',
  ],
  [
    'ban-drop-table',
    'create table if not exists app_public.cards ();\ndrop table if exists app_public.cards;',
    'drop table if exists app_public.doors;\ncreate table if not exists app_public.doors ();',
  ],
  [
    'require-concurrent-index-deletion',
    'drop index if exists app_public.doors_idx;\ncreate table app_public.doors (id uuid);',
    'drop index if exists app_public.doors_idx;\ncreate table app_public.doors (id uuid);\ncreate index "doors_idx" on app_public.doors (id);',
  ],
  [
    'ban-drop-column',
    'alter table app_public.users drop column locale;',
    '-- squawk-ignore ban-drop-column\nalter table app_public.users drop column locale;',
  ],
  ['ban-truncate-cascade', 'truncate app_public.users cascade;', 'delete from app_public.users;'],
  ['ban-drop-database', 'drop database graph;', 'drop function app_public.label();'],
  [
    'changing-column-type',
    'alter table app_public.cards alter column major type bigint;',
    'alter table app_public.cards add column major_number bigint;',
  ],
  [
    'renaming-column',
    'alter table app_public.users rename column full_name to name;',
    'alter table app_public.users add column name text;',
  ],
  ['renaming-table', 'alter table app_public.users rename to people;', 'create view app_public.people as select 1;'],
  [
    'constraint-missing-not-valid',
    "alter table app_public.users add constraint users_locale_given check (locale <> '');",
    "alter table app_public.users add constraint users_locale_given check (locale <> '') not valid;",
  ],
  [
    'adding-foreign-key-constraint',
    'alter table app_public.users add constraint users_locale_fkey foreign key (locale) references app_hidden.locales;',
    'alter table app_public.users add constraint users_locale_fkey foreign key (locale) references app_hidden.locales not valid;',
  ],
  [
    'disallowed-unique-constraint',
    'alter table app_public.users add constraint users_name_key unique (organization_id, full_name);',
    'alter table app_public.users add constraint users_name_key unique using index users_name_idx;',
  ],
  [
    'adding-serial-primary-key-field',
    'alter table app_public.users add column number bigserial primary key;',
    'create table app_public.doors (number bigint primary key);',
  ],
  ['transaction-nesting', 'begin; select 1; commit;', 'select 1;'],
  [
    'prefer-timestamp-tz',
    'create table app_public.doors (at timestamp);',
    'create table app_public.doors (at timestamptz);',
  ],
  [
    'prefer-text-field',
    'create table app_public.doors (name varchar(10));',
    'create table app_public.doors (name text);',
  ],
  ['ban-char-field', 'create table app_public.doors (name char(10));', 'create table app_public.doors (name text);'],
])('%s is found in "%s" and not in "%s"', async (rule, unsafe, safe) => {
  const rules = async (sql: string) => (await lintMigration(sql)).map((finding) => finding.rule);

  expect(await rules(unsafe)).toContain(rule);
  expect(await rules(safe)).toEqual([]);
});

test('a table of a committed migration is not one that the file makes', async () => {
  const sql = 'drop table if exists app_public.cards;\ncreate table app_public.cards (id uuid);';

  expect(await lintMigration(sql, ['create table app_public."cards" (id uuid);'])).toEqual([
    expect.objectContaining({ rule: 'ban-drop-table', line: 1 }),
  ]);
  expect(await lintMigration(sql, ['create table app_public."Cards" (id uuid);'])).toEqual([]);
});

test('db:commit says when squawk does not run to its end, and commits nothing', async () => {
  const copy = await createMigrationsCopy();
  const environment = { PATH: process.env.PATH ?? '', DATA_DIR: '/dev/null/data' };
  const commit = async () => {
    const { exited, output } = startProcess(['commit', 'one'], environment, copy.root);
    return { ...(await exited), stderr: output.stderr };
  };
  const squawk = 'node_modules/squawk-cli/js/bin/squawk';
  await copy.write('migrations/current.sql', 'select 1;');

  // Twin: squawk is content, and the next step fails.
  expect((await commit()).stderr).toContain('Cannot create the data directory');
  const config = await copy.read('migrations/squawk.toml');
  await copy.write('migrations/squawk.toml', 'pg_version = [');
  const ofConfig = await commit();
  await copy.write('migrations/squawk.toml', config);
  await rm(join(copy.root, 'node_modules/squawk-cli'));
  await mkdir(join(copy.root, 'node_modules/squawk-cli/js/bin'), { recursive: true });
  await copy.write(squawk, `process.stdout.write('[{"rule_name":', () => process.abort());`);
  const ofCrash = await commit();
  await copy.write(squawk, `process.stdout.write('[]', () => process.exit(101));`);
  const ofCode = await commit();

  for (const { code, stderr } of [ofConfig, ofCrash, ofCode]) {
    expect(stderr).toMatch(/^squawk, which reads the migration, ended .*and no whole report\./);
    expect(code).toBe(1);
  }
  expect(ofConfig.stderr).toContain('Configuration error');
  await copy.remove();
});

import { lintMigration } from '../../src/commands/development/lintMigration.ts';
import { readLaterMigrations } from '../support/laterMigrations.ts';

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
    'drop index app_public.users_email_idx;',
    '--! no-transaction\ndrop index concurrently if exists app_public.users_email_idx;',
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

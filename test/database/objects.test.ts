import { loadModule, parseSync } from 'libpg-query';
import { catalogueOf, readDatabaseObjects, readObjectParts } from '../../src/commands/development/databaseObjects.ts';
import { firstSentence, readDatabasePage } from '../../src/commands/development/databasePage.ts';
import { changedObjects, staleGoldenFiles } from '../../src/commands/development/goldenFiles.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// The golden files of the database's objects: what `npm run schema:update` writes.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const read = () => withClient(database.ownerUrl, readDatabaseObjects);

test('say what the migrations give', async () => {
  const stale = (await staleGoldenFiles(database.ownerUrl)).map(({ name }) => name);

  expect({ remedy: 'npm run schema:update', stale }).toEqual({ remedy: 'npm run schema:update', stale: [] });
});

test('know each table, view, function and type', async () => {
  const { rows } = await database.owner.query<{ path: string }>(`
    with named as (
      select relnamespace as schema, relname as name from pg_class where relkind in ('r', 'p', 'v', 'm') and (not relispartition or relname ~ '_default$')
      union select pronamespace, proname from pg_proc
      union select typnamespace, typname from pg_type where typtype in ('d', 'e')
    )
    select format('%s/%s.sql', nspname, name) as path from named join pg_namespace n on n.oid = schema
    where nspname in ('app_public', 'app_hidden', 'oauth', 'feed', 'audit')`);

  const files = await read();

  expect(rows.map(({ path }) => path).filter((path) => !files.has(path))).toEqual([]);
  expect(rows.length).toBeGreaterThan(150);
});

test('have a comment each, from which docs/database.md says what they are for', async () => {
  const page = await withClient(database.ownerUrl, (client) => readDatabasePage(client));
  const rows = page.split('\n').filter((line) => /^\| [a-z ]+ \| `/.test(line));

  expect(rows.filter((row) => !/\S \|$/.test(row.replace(/^\| [a-z ]+ \| `[^`]+` \|/, '')))).toEqual([]);
  expect(rows.length).toBeGreaterThan(150);
  expect(page).toContain('  "app_public.users" ||--o{ "app_public.card_assignments" : "user_id"\n');
  expect(page).toContain('  "app_public.users" ||--o| "oauth.credentials" : "user_id"\n');
});

test('are all in docs/database.md, partitioned tables and long signatures among them', async () => {
  const made = (name: string) => `
    create table app_public.${name} (at date, unit text) partition by range (at);
    create table app_public.${name}_2024 partition of app_public.${name} for values from ('2024-01-01') to ('2025-01-01');`;
  const client = await database.owner.connect();
  try {
    await client.query(`begin; ${made('visits')} ${made('visits_by_hour')}
      create function app_public.${'long_'.repeat(12)}(first timestamp with time zone, second timestamp with time zone)
        returns text language sql as $$ select 'x' $$;`);
    const page = await readDatabasePage(client);

    const { rows } = await client.query<{ name: string }>(`
      select n.nspname, p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('app_public', 'app_hidden', 'oauth', 'feed', 'audit')
        and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype in ('e', 'i'))
      union all
      select n.nspname, c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('app_public', 'app_hidden', 'oauth', 'feed', 'audit') and c.relkind in ('r', 'p', 'v', 'm') and not c.relispartition`);
    const named = new Set(
      [...page.matchAll(/^\| [a-z ]+ \| `([^`]+)` \|/gm)].map(([, name]) => name?.replaceAll(', ', ',')),
    );
    const missing = rows
      .map(({ name }) => name.replace(/^\w+\./, '').replaceAll('"', ''))
      .filter((name) => !named.has(name));
    expect(missing).toEqual([]);
    expect(rows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['feed.changes', 'audit.changes', 'app_public.visits']),
    );
    expect(page).not.toContain('visits_2024');
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test.each([
  ['@name x\n@behavior -*\nThe first. The second.', 'The first.'],
  ['One without an end', 'One without an end'],
  ['In `e.g.x`, 1.5 of them. More.', 'In `e.g.x`, 1.5 of them.'],
  ['@name only tags', ''],
])('the sentence of %j is %j', (comment, sentence) => {
  expect(firstSentence(comment)).toBe(sentence);
});

describe('an object that a later migration changes', () => {
  const baseline = [
    'create table app_public.doors (id int);\ncreate function app_hidden.open(app_public.gates) returns int …',
    'create table "team"."Odd name" (id int); create type app_public.kind as enum ();',
  ];

  test.each([
    ['alter table if exists app_public.doors add label text', ['app_public/doors.sql']],
    ["comment on column app_public.doors.id is 'x'", ['app_public/doors.sql']],
    ['create index on app_public.doors (id)', ['app_public/doors.sql']],
    ['create or replace function app_hidden.open(app_public.gates)', ['app_hidden/open.sql']],
    ['grant select on app_public.gates, app_public.doors to graph_app', ['app_public/doors.sql']],
    ['drop policy p on "team"."Odd name"', ['team/Odd%20name.sql']],
  ])('has a file of its own: %s', (text, paths) => {
    expect([...changedObjects(baseline, [text])]).toEqual(paths);
  });

  test.each([
    'create table app_public.walls (door int references app_public.doors on delete cascade)',
    'create trigger t before update on app_public.walls for each row execute function app_hidden.open()',
    'insert into app_public.doors select from app_public.doors',
    'create function app_public.label(door app_public.doors) returns text',
  ])('has none when it is only used: %s', (text) => {
    expect([...changedObjects(baseline, [text])]).toEqual([]);
  });

  test('has none when one migration makes it, and one when the next changes it', () => {
    const make = 'drop table if exists app_public.walls; create table app_public.walls (id int)';

    expect([...changedObjects(baseline, [make])]).toEqual([]);
    expect([...changedObjects(baseline, [make, 'alter table app_public.walls drop id'])]).toEqual([
      'app_public/walls.sql',
    ]);
  });
});

describe('the catalogue', () => {
  test.each([
    [
      'the body of a function',
      `create or replace function app_hidden.is_text(value text) returns boolean language sql immutable as 'select true'`,
      /^[-+]CREATE OR REPLACE FUNCTION app_hidden\.is_text\(/,
    ],
    [
      'the expression of a policy',
      'alter policy select_graph_user on app_public.users using (true)',
      /^[-+]create policy select_graph_user on app_public\.users for select to graph_user -- /,
    ],
    [
      'a view',
      `do $$ begin execute 'create or replace view audit.relations as ' || rtrim(pg_get_viewdef('audit.relations'::regclass), ';') || ' limit 9'; end $$`,
      /^[-+]create view audit\.relations /,
    ],
    [
      'the comment of a column',
      `comment on column app_public.users.full_name is 'x'`,
      /^[-+]create table app_public\.users \( -- /,
    ],
    ['a column', 'alter table app_public.users add label text', /^\+ {2}label text$|^[-+] {2}updated_at/],
    ['a right', 'grant select on app_public.users to graph_oauth', /^[-+]grant .* on app_public\.users to graph_oauth/],
    [
      'an owner',
      'alter function app_hidden.is_text(text) owner to graph_helper',
      /^\+alter function app_hidden\.is_text\(text\) owner|^[-+]grant .* app_hidden\.is_text/,
    ],
  ])('changes by lines that name the object, for %s', async (_, change, line) => {
    const client = await database.owner.connect();
    try {
      await client.query('begin');
      const before = catalogueOf(await readObjectParts(client)).split('\n');
      await client.query(change);
      const after = catalogueOf(await readObjectParts(client)).split('\n');
      await client.query('rollback');

      const lines = [
        ...before.filter((text) => !after.includes(text)).map((text) => `-${text}`),
        ...after.filter((text) => !before.includes(text)).map((text) => `+${text}`),
      ];
      expect(lines.length).toBeGreaterThan(0);
      for (const text of lines) expect(text).toMatch(line);
    } finally {
      client.release(true);
    }
  });
});

describe("a team's own objects", () => {
  let objects: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const before = await read();
    await database.owner.query(`
      create schema team;
      create domain team.plate as text collate "C" default 'none' constraint plate_text check (value <> '');
      create type team.period as range (subtype = date);
      create type team.pair as (first int, "Second" text);
      comment on column team.pair."Second" is 'The other one.';
      create sequence team.numbers increment 2;
      create table team.doors (
        id bigint generated by default as identity,
        number bigint default nextval('team.numbers') not null,
        name text collate "C" not null,
        plate team.plate,
        upper text generated always as (upper(name)) stored,
        gone int,
        constraint doors_pkey primary key (id),
        constraint doors_name_key unique (name) deferrable,
        constraint doors_number check (number > 0)
      ) with (fillfactor = 70);
      alter table team.doors add constraint doors_later check (id > 0) not valid;
      alter table team.doors drop gone;
      create index doors_upper_idx on team.doors (upper text_pattern_ops) where number > 1;
      create statistics team.doors_stats on name, number from team.doors;
      alter table team.doors enable row level security;
      create policy narrow on team.doors as restrictive for update to graph_app, graph_user using (id > 0) with check (id > 1);
      create function team.touch() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger touch before update on team.doors for each row execute function team.touch();
      alter table team.doors disable trigger touch;
      create rule quiet as on delete to team.doors do instead nothing;
      grant select (id, name), update (name) on team.doors to graph_app;
      grant insert on team.doors to graph_app with grant option;
      create materialized view team.counted as select count(*) from team.doors;
      create view team.shown with (security_barrier) as select id from team.doors;
      create aggregate team.total(int) (sfunc = int4pl, stype = int, initcond = '0');
      create procedure team.work(n int) language sql as 'select 1';
      create function team.work(n int, m int default 2) returns int stable language sql set work_mem = '8MB' as 'select n';
      alter function team.work(int, int) owner to graph_helper;
      grant execute on function team.work(int, int) to public;
      create operator team.<<| (leftarg = int, rightarg = int, function = int4pl);
      create table team.parts (at date, unit text) partition by list (unit);
      create table team.parts_a partition of team.parts for values in ('a');
      create table team."../Odd name" (id int);
      alter default privileges in schema team grant select on tables to graph_auditor;
    `);
    const now = await read();
    objects = new Map([...now].filter(([path, text]) => before.get(path) !== text));
  });

  test('have files, and no other file changes', () => {
    expect([...objects.keys()]).toEqual([
      'team.sql',
      ...['..%2FOdd%20name', 'counted', 'doors', 'numbers', 'pair', 'parts', 'parts_a', 'period', 'plate', 'shown'].map(
        (name) => `team/${name}.sql`,
      ),
      ...['total', 'touch', 'work'].map((name) => `team/${name}.sql`),
    ]);
  });

  test('are tables with all that belongs to them', () => {
    expect(objects.get('team/doors.sql')).toBe(`create table team.doors (
  id bigint generated by default as identity not null,
  number bigint default nextval('team.numbers'::regclass) not null,
  name text collate "C" not null,
  plate team.plate,
  upper text generated always as (upper(name)) stored
)
with (fillfactor=70);
alter table team.doors enable row level security;
grant select (id, name), update (name) on team.doors to graph_app;
grant insert on team.doors to graph_app with grant option;

alter table team.doors add constraint doors_later CHECK (id > 0) NOT VALID;

alter table team.doors add constraint doors_name_key UNIQUE (name) DEFERRABLE;

alter table team.doors add constraint doors_number CHECK (number > 0);

alter table team.doors add constraint doors_pkey PRIMARY KEY (id);

CREATE INDEX doors_upper_idx ON team.doors USING btree (upper text_pattern_ops) WHERE number > 1;

create policy narrow on team.doors as restrictive for update to graph_app, graph_user
  using (id > 0)
  with check (id > 1);

CREATE TRIGGER touch BEFORE UPDATE ON team.doors FOR EACH ROW EXECUTE FUNCTION team.touch(); -- tgenabled: D

CREATE RULE quiet AS
    ON DELETE TO team.doors DO INSTEAD NOTHING;
`);
    expect(objects.get('team/parts_a.sql')).toMatch(
      /^-- A partition of team\.parts: FOR VALUES IN \('a'\)\.\ncreate table/,
    );
    expect(objects.get('team/parts.sql')).toMatch(/\npartition by LIST \(unit\);$/m);
  });

  test('are views, types and functions, and operators by their name', () => {
    expect(objects.get('team/shown.sql')).toMatch(
      /^create view team\.shown with \(security_barrier=true\) as\n SELECT id/,
    );
    expect(objects.get('team/counted.sql')).toMatch(/^create materialized view team\.counted as\n SELECT count/);
    expect(objects.get('team/plate.sql')).toBe(
      `create domain team.plate as text collate "C" default 'none'::text\n  constraint plate_text CHECK (VALUE <> ''::text);\n`,
    );
    expect(objects.get('team/pair.sql')).toBe(
      `create type team.pair as (\n  first integer,\n  "Second" text\n);\ncomment on column team.pair."Second" is 'The other one.';\n`,
    );
    expect(objects.get('team/period.sql')).toBe('create type team.period;\n');
    expect(objects.get('team/total.sql')).toBe(
      'create aggregate team.total(integer) (sfunc = int4pl, stype = integer);\n',
    );
    expect(objects.get('team.sql')).toContain(
      '-- Default privileges on tables of current_user in schema team:\ngrant select on tables to graph_auditor;\n\n-- operator team.<<|(integer,integer)\n',
    );
    const [fn, procedure] = objects.get('team/work.sql')?.split('\n\n') ?? [];
    expect(procedure).toMatch(/^CREATE OR REPLACE PROCEDURE team\.work\(IN n integer\)/);
    expect(fn).toMatch(/ SET work_mem TO '8MB'\n/);
    expect(fn?.trim().split('\n').slice(-2)).toEqual([
      'alter function team.work(integer,integer) owner to graph_helper;',
      'grant execute on function team.work(integer,integer) to public;',
    ]);
  });

  test('are SQL that PostgreSQL parses', async () => {
    await loadModule();

    const unreadable = [...(await read())].filter(([, text]) => {
      try {
        return parseSync(text).stmts?.length === 0;
      } catch {
        return true;
      }
    });

    expect(unreadable.map(([path]) => path)).toEqual([]);
  });
});

import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';

let copy: MigrationsCopy;
let database: TestDatabase;
beforeAll(async () => {
  [copy, database] = await Promise.all([createMigrationsCopy(), createTestDatabase()]);
});
afterAll(async () => {
  await copy.remove();
  await database.drop();
});

/** Saves the file and runs it. */
async function run(sql: string): Promise<void> {
  await copy.write('migrations/current.sql', sql);
  await copy.applyCurrent(database.ownerUrl);
}

const drop = 'Help: The file runs on every save: put';
const doors = 'create table app_public.doors (id int primary key);';

/** What a developer may well write, what is said of it, and the same when that is heeded. */
test.each([
  [
    'a table without its schema',
    'select from units;',
    'Help: Did you mean app_public.units?',
    'select from app_public.units;',
  ],
  [
    'a table that the file itself has made',
    `${doors}\nselect from app_public.dors;`,
    'Help: Did you mean app_public.doors?',
    `${doors}\nselect from app_public.doors;\ndrop table app_public.doors;`,
  ],
  [
    'a function',
    'select app_hidden.uuid_v8();',
    'Help: Did you mean app_hidden.uuid_v7?',
    'select app_hidden.uuid_v7();',
  ],
  ["a function of PostgreSQL's own", "select lenght('a');", 'Help: Did you mean length?', "select length('a');"],
  [
    'a role',
    'grant usage on schema app_public to graph_usr;',
    'Help: Did you mean graph_user?',
    'grant usage on schema app_public to graph_user;',
  ],
  ['a type', 'select null::uid;', 'Did you mean ', 'select null::uuid;'],
  [
    'a schema',
    'create table app_publik.a ();',
    'Help: Did you mean app_public?',
    'create table app_public.a (); drop table app_public.a;',
  ],
  [
    'a table that is there',
    doors + doors,
    `${drop} \`drop table if exists app_public.doors;\` at its top.`,
    `drop table if exists app_public.doors;\n${doors}\ndrop table app_public.doors;`,
  ],
  [
    'a table of a committed migration',
    'create table app_public.units ();',
    'Help: A committed migration has made it. Choose another name, or change what is there by `alter`.',
    'create table app_public.other_units (); drop table app_public.other_units;',
  ],
  [
    'a table of a committed migration, by another spelling',
    'create table "app_public".U&"\\0075nits" ();',
    'Help: A committed migration has made it.',
    'create table app_public."Units" (); drop table app_public."Units";',
  ],
  [
    'a table of a committed migration, by the search path',
    'set local search_path = app_public; create view units as select 1 as one;',
    'Help: A committed migration has made it.',
    'set local search_path = app_public; create view spare_units as select 1 as one; drop view spare_units;',
  ],
  [
    'a function of a committed migration, with a synonym of its type',
    'create function oauth.purge_tokens("limit" int4) returns int language sql as $$ select 1 $$;',
    'Help: A committed migration has made it.',
    'create function oauth.purge_tokens(text) returns int language sql as $$ select 1 $$; drop function oauth.purge_tokens(text);',
  ],
  [
    'a name that is quoted',
    'create table app_public."Spare Doors" (); create table app_public."Spare Doors" ();',
    `${drop} \`drop table if exists app_public."Spare Doors";\` at its top.`,
    'create table app_public."Spare Doors" (); drop table if exists app_public."Spare Doors"; create table app_public."Spare Doors" (); drop table app_public."Spare Doors";',
  ],
  [
    'a policy of a committed migration',
    'create policy select_graph_user on app_public.units using (true);',
    'Help: A committed migration has made it.',
    'alter policy select_graph_user on app_public.units to graph_user;',
  ],
  [
    'a policy that is there',
    `${doors} create policy read on app_public.doors using (true); create policy read on app_public.doors using (true);`,
    `${drop} \`drop policy if exists read on app_public.doors;\` at its top.`,
    `${doors} create policy read on app_public.doors using (true); drop policy if exists read on app_public.doors; create policy read on app_public.doors using (true); drop table app_public.doors;`,
  ],
  [
    'a column that is there',
    'alter table app_public.units add column name text;',
    'If it has added the column, put `alter table app_public.units drop column if exists name;` at its top.',
    'alter table app_public.units drop column if exists label;\nalter table app_public.units add column label text;\nalter table app_public.units drop column label;',
  ],
  [
    'a foreign key without the organization',
    'create table app_public.doors (unit_id uuid references app_public.units (id));',
    'Help: Keys begin with the organization: foreign key (organization_id, unit_id) references app_public.units.',
    'create table app_public.doors (organization_id uuid, unit_id uuid, foreign key (organization_id, unit_id) references app_public.units);\ndrop table app_public.doors;',
  ],
  [
    'a drop in the wrong order',
    'create table app_public.gates (id int primary key); create table app_public.doors (gate int references app_public.gates); drop table app_public.gates;',
    'Help: Drop first what depends on it: at the top of the file the latest object comes first.',
    'create table app_public.gates (id int primary key); create table app_public.doors (gate int references app_public.gates); drop table app_public.doors, app_public.gates;',
  ],
  [
    'a secret column that is dropped',
    'alter table app_public.users drop column external_authentication_token_hash;',
    "Help: Name the columns without this one before: select audit.record('app_public.users', secrets => '{…}')",
    "select audit.record('app_public.units', derived => '{created_at,updated_at,ancestor_ids}');",
  ],
  [
    'an index concurrently, within the transaction',
    'create index concurrently units_label_idx on app_public.units (name);',
    'Help: Put `--! no-transaction` into the first line of the file, and nothing else beside this statement.',
    '--! no-transaction\ncreate index concurrently units_label_idx on app_public.units (name);',
  ],
  [
    'two statements without a transaction',
    '--! no-transaction\ncreate index concurrently units_name_idx on app_public.units (name);\n\n-- Another.\ndrop index concurrently app_public.units_name_idx;',
    'migrations/current.sql:5: After `--! no-transaction` there is one statement. Put this one into a migration of its own.\n     5 | drop index',
    '--! no-transaction\n-- One; and no other.\ndrop index concurrently if exists app_public.units_name_idx;\n',
  ],
  [
    'a rule that rows break',
    `${doors} insert into app_public.doors values (1); alter table app_public.doors add constraint doors_small check (id < 1);`,
    'Help: Rows that are there break this rule: change them before it, in this file.',
    `${doors} insert into app_public.doors values (1); update app_public.doors set id = 0; alter table app_public.doors add constraint doors_small check (id < 1); drop table app_public.doors;`,
  ],
])('%s: the error says what to do, which works', async (_, wrong, help, right) => {
  await expect(run(wrong)).rejects.toThrow(help);
  await run(right);
});

test('the name that is wrong is underlined as a whole', async () => {
  await expect(run('select 1,\n  (select count(*) from app_public.unts);')).rejects.toThrow(
    [
      'migrations/current.sql:2:25: relation "app_public.unts" does not exist (SQLSTATE 42P01)',
      '     2 |   (select count(*) from app_public.unts);',
      '       |                         ^^^^^^^^^^^^^^^',
      '  Help: Did you mean app_public.units?',
    ].join('\n'),
  );
});

test('a function that is there, with other arguments, and a name like no other get no suggestion', async () => {
  const helpFor = async (sql: string) => String(await run(sql).catch((error: unknown) => error));

  expect(await helpFor('select length(5);')).toMatch(/function length\(integer\) does not exist[\s\S]*Hint: /);
  expect(await helpFor('select length(5);')).not.toContain('Help');
  expect(await helpFor('select from app_public.zzzzzzzzzzzzzzzz;')).not.toContain('Help');
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { type Copy, createCopy } from './createCopy.ts';

// What `npm run dev` and `npm run db:commit` say of a migration that PostgreSQL takes.

let copy: Copy;
let server: TestProcess;
/** The first step of the guide: a table with everything that a table needs. */
let doors: string;
beforeAll(async () => {
  const guide = await readFile(new URL('../../docs/changing-the-schema.md', import.meta.url), 'utf8');
  doors = /```sql\n(.*?)```/s.exec(guide)?.[1] ?? '';
  copy = await createCopy();
  server = copy.start(['dev']);
  await server.says('Save migrations/current.sql');
});
afterAll(async () => {
  server.signal('SIGTERM');
  await server.exited;
  await copy.remove();
});

const undone = `
  drop function if exists app_public.door_create(uuid, text), app_public.door_create(text), app_public.door_close(uuid[]);
  drop table if exists app_public.doors;
  drop type if exists app_public.door_state;`;
const create = (parameters = 'unit_id uuid, name text', name = 'door_create') => `
  create function app_public.${name}(${parameters}) returns app_public.doors
    language sql volatile set search_path = pg_catalog, pg_temp as 'select null::app_public.doors';`;
const commentOn = (signature: string, comment: string) =>
  `comment on function app_public.${signature} is E'@mutation\\n${comment}';`;

type Edit = (sql: string) => string;
const add =
  (...statements: string[]): Edit =>
  (sql) =>
    [sql, ...statements].join('\n');
const replace =
  (what: string | RegExp, by: string): Edit =>
  (sql) => {
    const replaced = sql.replace(what, () => by);
    if (replaced === sql) throw new Error(`The guide has no ${what}`);
    return replaced;
  };
const comment = (text: string) => add(`comment on column app_public.doors.name is E'${text}\\nName.';`);

/** What is wrong, where in the file, what is said of it, and the same as it is right. */
const cases: [what: string, where: string, said: RegExp, wrong: Edit, right: Edit][] = [
  [
    '@behaviour',
    '@behaviour',
    /error: app_public\.doors says @behaviour, .* Did you mean @behavior\?/,
    ...['@behaviour', '@behavior'].map((tag) => replace('@foreignKey', `${tag} -list\\n@foreignKey`)),
  ],
  [
    '@foreignFieldNam',
    '@foreignFieldNam ',
    /error: doors_unit_id_fkey on app_public\.doors says @foreignFieldNam, .* @foreignFieldName\?/,
    replace('@foreignFieldName doors\\n', '@foreignFieldNam doors\\n'),
    replace('@foreignFieldName doors\\n', '@foreignFieldName unitDoors\\n'),
  ],
  [
    '@filter',
    '@filter 1st',
    /error: app_public\.doors\.name says @filter 1st, which is no name/,
    comment('@filter 1st'),
    comment('@filter names'),
  ],
  [
    '@foreignKey',
    '@foreignKey (organization_id) references app_public.apps',
    /error: app_public\.doors says @foreignKey .*, and there is no such table/,
    replace('app_public.app (', 'app_public.apps ('),
    replace('app_public.app (', 'app_public."app" ('),
  ],
  [
    '@mutation overloaded',
    'create function app_public.door_create(unit_id',
    /error: app_public\.door_create\(uuid,text\) shares its name/,
    add(
      create(),
      commentOn('door_create(uuid, text)', 'Adds.'),
      create('name text'),
      commentOn('door_create(text)', 'Adds.'),
    ),
    add(create(), commentOn('door_create(uuid, text)', 'Adds.')),
  ],
  [
    '@mutation VARIADIC',
    'create function app_public.door_close(variadic',
    /error: app_public\.door_close\(uuid\[\]\) is VARIADIC/,
    ...['variadic ids uuid[]', 'ids uuid[]'].map((parameters) =>
      add(create(parameters, 'door_close'), commentOn('door_close(uuid[])', 'Closes.')),
    ),
  ],
  [
    '@param of no parameter',
    '@param title',
    /error: app_public\.door_create\(uuid,text\) says @param title/,
    ...['title', 'name'].map((name) => add(create(), commentOn('door_create(uuid, text)', `@param ${name} Its name.`))),
  ],
  [
    '{Unitt}',
    '{Unitt}',
    /The schema cannot be built: .*\{Unitt\}.*no such type/,
    ...['Unitt', 'Unit'].map((type) =>
      add(create(), commentOn('door_create(uuid, text)', `@param {${type}} unitId Its unit.`)),
    ),
  ],
  [
    'values of an enum of one name',
    "'in-repair'",
    /error: app_public\.door_state has the values 'in-repair' and 'in_repair'/,
    ...['in_repair', 'open'].map((value) =>
      add(
        `create type app_public.door_state as enum ('in-repair', '${value}');`,
        'alter table app_public.doors add column state app_public.door_state;',
      ),
    ),
  ],
  [
    'a foreign key without an index',
    'constraint doors_unit_id_fkey foreign key',
    /info: doors_unit_id_fkey on app_public\.doors is checked by reading the whole table/,
    (sql: string) =>
      replace(
        /create index doors_unit_id_idx.*/,
        '',
      )(replace('unique (organization_id, unit_id, name)', 'unique (organization_id, name)')(sql)),
    replace('doors_unit_id_idx', 'doors_of_units_idx'),
  ],
  [
    'a table without row-level security',
    'create table app_public.doors',
    /error: app_public\.doors postgres row-level security is off/,
    replace(/alter table app_public.doors enable row.*/, ''),
    add('-- Nothing more.'),
  ],
  [
    'a table without a policy',
    'create table app_public.doors',
    /warning: app_public\.doors shows no row/,
    replace(/(create|comment on) policy [^;]*;\n/g, ''),
    add('-- Nothing more!'),
  ],
  [
    'a table without a primary key',
    'create table app_public.doors',
    /warning: app_public\.doors has no primary key/,
    replace('constraint doors_pkey primary key', 'constraint doors_pkey unique'),
    add('-- Nothing more?'),
  ],
  [
    'a table without a comment',
    'create table app_public.doors',
    /warning: app_public\.doors has no description/,
    replace('\\nA door of a unit.', ''),
    add('-- Nothing more…'),
  ],
  [
    'a policy that does not compare',
    'create policy select_graph_app on app_public.doors',
    /error: select_graph_app on app_public\.doors lets a request pass from one organization to another/,
    replace(
      'using (organization_id = (select app_hidden.current_organization_id()));\ncomment on policy select_graph_app',
      'using (organization_id = organization_id);\ncomment on policy select_graph_app',
    ),
    add('-- Nothing at all.'),
  ],
] as never;

describe('npm run dev', () => {
  test.each(cases)(
    'says what is wrong about %s, and where; and nothing when it is right',
    async (_, where, said, wrong, right) => {
      const sql = `${undone}\n${wrong(doors)}`;
      const line = sql.slice(0, sql.indexOf(where)).split('\n').length;

      const report = await save(sql);
      expect(report.split('\n').filter((text) => said.test(text))).toEqual([
        expect.stringContaining(`migrations/current.sql:${line}: `),
      ]);

      expect(placesIn(await save(`${undone}\n${right(doors)}`))).toEqual([]);
    },
  );

  test('says once what stays as it is, and again what comes back', async () => {
    const wrong = `${undone}\n${comment('@filtr names')(doors)}`;

    expect(placesIn(await save(wrong))).toHaveLength(1);
    expect(placesIn(await save(`${wrong}-- More.\n`))).toEqual([]);
    expect(placesIn(await save(`${undone}\n${doors}`))).toEqual([]);
    expect(placesIn(await save(wrong))).toHaveLength(1);
  });

  /** What the terminal shows of one save. */
  async function save(sql: string): Promise<string> {
    const before = server.output.stdout.length;
    const report = () => server.output.stdout.slice(before);
    await copy.save(sql);
    await until(async () => /(Migrated and reloaded|The schema stays as it was)[\s\S]*\n$/.test(report()));
    return report();
  }
});

describe('npm run db:commit', () => {
  const commit = () => copy.run(['commit', 'doors']);
  const committed = () => readdir(join(copy.root, 'migrations/committed'));

  test.each([
    ['that the graph ignores in part', comment('@filtr names'), /error: app_public\.doors\.name says @filtr/],
    [
      'whose graph cannot be built',
      add(create(), commentOn('door_create(uuid, text)', '@param {Unitt} unitId Its unit.')),
      /The schema cannot be built: .*\{Unitt\}/,
    ],
    [
      'that leaves a table without row-level security',
      replace(/alter table app_public.doors enable row.*/, ''),
      /error: app_public\.doors postgres row-level security is off/,
    ],
  ])('refuses a migration %s', async (_, wrong, said) => {
    const before = await committed();
    await copy.save(`${undone}\n${wrong(doors)}`);

    const { code, output } = await commit();

    expect(code).toBe(1);
    expect(output).toMatch(/^Nothing is committed\.\nmigrations\/current\.sql:\d+: /);
    expect(output).toMatch(said);
    expect(await committed()).toEqual(before);
  });

  test('warns of what may be meant so, and commits it', async () => {
    await copy.save(`${undone}\n${doors.replace('\\nA door of a unit.', '')}`);

    const { code, output } = await commit();

    expect(output).toMatch(
      /^migrations\/current\.sql:\d+: warning: app_public\.doors has no description.*\nCommitted\./,
    );
    expect(code).toBe(0);
  });

  test('says nothing of what was committed before, and nothing where nothing is wrong', async () => {
    await copy.save(`comment on column app_public.doors.id is 'Id.';\n`);

    expect(await commit()).toEqual({ code: 0, output: expect.stringMatching(/^Committed\./) });
  });
});

const placesIn = (report: string) => report.split('\n').filter((line) => line.includes('migrations/current.sql:'));

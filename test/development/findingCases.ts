import { readFile } from 'node:fs/promises';

// What `npm run dev` and `npm run db:commit` say of a migration that PostgreSQL takes.

/** The first step of the guide: a table with everything that a table needs. */
export async function readDoors(): Promise<string> {
  const guide = await readFile(new URL('../../docs/changing-the-schema.md', import.meta.url), 'utf8');
  return /```sql\n(.*?)```/s.exec(guide)?.[1] ?? '';
}

/** Drops what the cases make. */
export const undone = `
  drop function if exists app_public.door_create(uuid, text), app_public.door_create(text), app_public.door_close(uuid[]);
  drop table if exists app_public.doors;
  drop type if exists app_public.door_state;`;
export const create = (parameters = 'unit_id uuid, name text', name = 'door_create') => `
  create function app_public.${name}(${parameters}) returns app_public.doors
    language sql volatile set search_path = pg_catalog, pg_temp as 'select null::app_public.doors';`;
export const commentOn = (signature: string, comment: string) =>
  `comment on function app_public.${signature} is E'@mutation\\n${comment}';`;

export type Edit = (sql: string) => string;
export const add =
  (...statements: string[]): Edit =>
  (sql) =>
    [sql, ...statements].join('\n');
export const replace =
  (what: string | RegExp, by: string): Edit =>
  (sql) => {
    const replaced = sql.replace(what, () => by);
    if (replaced === sql) throw new Error(`The guide has no ${what}`);
    return replaced;
  };
export const comment = (text: string) => add(`comment on column app_public.doors.name is E'${text}\\nName.';`);

/** What is wrong, where in the file, what is said of it, and the same as it is right. */
export const findingCases: [what: string, where: string, said: RegExp, wrong: Edit, right: Edit][] = [
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
    // What is followed has one, or the migration fails. What is recorded names another column.
    (doors: string) =>
      doors
        .replace("select feed.follow('app_public.doors');", '')
        .replace("audit.record('app_public.doors')", "audit.record('app_public.doors', row_id => 'id')")
        .replace('constraint doors_pkey primary key', 'constraint doors_pkey unique'),
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

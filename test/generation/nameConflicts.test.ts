import { readSchema } from '../../src/commands/development/goldenFiles.ts';
import { SchemaError } from '../../src/errors/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Why the schema cannot be built. */
async function failure(): Promise<SchemaError> {
  const error = await readSchema(database.ownerUrl).catch((error: unknown) => error);
  if (error instanceof SchemaError) return error;
  throw error;
}

const table = (name: string) => `create table app_public.${name} (id uuid primary key, name text)`;

// Each remedy is applied, so that the next test finds its own conflict alone.
test.each([
  ['two tables with one singular', `${table('gate')}; ${table('gates')}`, ['app_public.gate', 'app_public.gates']],
  ["a table and the edges of another's connection", table('user_edges'), ['app_public.user_edges', 'app_public.users']],
  ['a table and one of ours', table('card'), ['app_public.card', 'app_public.cards']],
  ['a table and the feed', table('changes'), ['app_public.changes']],
  [
    'two columns that differ in their case alone',
    'create table app_public.bolts (id uuid primary key, first_name text, "firstName" text)',
    ['app_public.bolts."firstName"', 'app_public.bolts.first_name', 'app_public.bolts'],
  ],
  [
    'a function of a table and a column',
    `create function app_public.bolts_first_name(b app_public.bolts) returns text language sql stable as 'select null'`,
    ['app_public.bolts.first_name', 'app_public.bolts'],
  ],
  [
    'a composite type and the row of a table as clients give it',
    'create type app_public.user_row_input as (name text)',
    ['app_public.user_row_input', 'app_public.users'],
  ],
  [
    'a domain and a type of GraphQL',
    'create domain app_public.line as text; create table app_public.scripts (id uuid primary key, line app_public.line)',
    ['app_public.line'],
  ],
  [
    'an enum and a type of GraphQL',
    "create type app_public.point as enum ('a'); alter table app_public.scripts add point app_public.point",
    ['app_public.point'],
  ],
  [
    'a view and a table',
    'create view app_public.gated as select 1 as id; create table app_public.gateds (id uuid primary key)',
    ['app_public.gated', 'app_public.gateds'],
  ],
])('%s meet in GraphQL: the message names them, and its remedy helps', async (_, sql, objects) => {
  await database.owner.query(sql);

  const error = await failure();

  expect(error.objects).toEqual(objects);
  for (const object of objects) expect(error.message).toContain(object);
  const remedy = /comment on [a-z ]+ \S+ is E'@name another_name/.exec(error.message)?.[0];
  await database.owner.query(`${remedy}_of_${objects.length}${sql.length}'`);
});

test('the remedies give a schema, in which each has its name', async () => {
  const types = (await readSchema(database.ownerUrl)).match(/(?<=^(?:type|scalar|enum) )AnotherNameOf\w+/gm);

  expect(types).toHaveLength(6);
});

test('a table may be called like a type of PostgreSQL, and end in a word of input objects', async () => {
  const names = ['json', 'text', 'user_inputs', 'user_patches', 'door_input'];
  const enums = "create type app_public.uuid as enum ('a'); alter table app_public.json add kind app_public.uuid";
  await database.owner.query(`${names.map(table).join('; ')}; ${enums}`);

  const types = (await readSchema(database.ownerUrl)).match(
    /(?<=^(?:type|enum) )(?:Json|Text|Uuid|(?:User|Door)(?:Input|Patch)\w*) /gm,
  );

  expect(types?.toSorted().map((type) => type.trim())).toEqual([
    'DoorInputRecord',
    'Json',
    'Text',
    'UserInputRecord',
    'UserPatchRecord',
    'Uuid',
  ]);
  await database.owner.query(`drop table app_public.${names.join(', app_public.')}; drop type app_public.uuid`);
});

test('a view that has lost its comment is named with what the comment said', async () => {
  await database.owner.query('comment on view app_public.app is null');

  const { message } = await failure();

  expect(message).toMatch(/^The schema cannot be built: Invalid @foreignKey on 'app_public\.\w+'/);
  expect(message).toContain('Say `@unique organization_id` in the comment of app_public.app');
  expect(message).not.toContain('Original spec');
});

test('an error of the database stays what it is', async () => {
  await database.owner.query('drop schema graphile_migrate cascade');

  await expect(readSchema(database.ownerUrl)).rejects.toMatchObject({ code: '42P01' });
});

import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Case, create, key, lints, onFunction, onTable, table } from './graphLintCases.ts';

// What the graph would leave out of a migration without a word, and beside each how it is in the graph.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each<Case>([
  [
    'a @mutation that is overloaded',
    ...['function_not_in_graph', create, /shares its name/],
    ...['door_create', 'door_add'].map(
      (name) =>
        `create function app_public.${name}(name text) returns app_public.doors language sql volatile as 'select null::app_public.doors';
         comment on function app_public.${name}(text) is '@mutation'`,
    ),
  ],
  [
    'a @mutation that is VARIADIC',
    ...['function_not_in_graph', 'app_public.doors_close(uuid[])', /VARIADIC/],
    ...['variadic ', ''].map(
      (mode) =>
        `create function app_public.doors_close(${mode}ids uuid[]) returns app_public.doors language sql volatile as 'select null::app_public.doors';
         comment on function app_public.doors_close is '@mutation'`,
    ),
  ],
  [
    'a @mutation that is stable',
    ...['function_not_in_graph', create, /not volatile/],
    ...['alter function app_public.door_create stable', 'alter function app_public.door_create volatile'],
  ],
  [
    'a @mutation that is a procedure',
    ...['function_not_in_graph', 'app_public.door_close(uuid)', /no function/],
    ...['procedure app_public.door_close(id uuid)', 'function app_public.door_close(id uuid) returns void'].map(
      (what) => `create ${what} language sql as ''; comment on routine app_public.door_close is '@mutation'`,
    ),
  ],
  [
    'a @mutation of any type',
    ...['function_not_in_graph', 'app_public.door_tell(anyelement)', /no types of its own/],
    ...['anyelement', 'text'].map(
      (type) =>
        `create function app_public.door_tell(value ${type}) returns text language sql volatile as 'select 1::text';
         comment on function app_public.door_tell is '@mutation'`,
    ),
  ],
  [
    'a volatile function that says nothing',
    ...['function_not_in_graph', create, /no @mutation/],
    ...["comment on function app_public.door_create is 'Makes one.'", onFunction('@mutation\\nMakes one.')],
  ],
  [
    'a function of no row',
    ...['function_not_in_graph', 'app_public.doors_label(text)', /no field/],
    ...['text', 'app_public.doors'].map(
      (type) =>
        `create function app_public.doors_label(door ${type}) returns text language sql stable as 'select 1::text'`,
    ),
  ],
  [
    'a function of a composite type of another schema',
    ...['function_not_in_graph', 'app_public.size_text(app_hidden.size)', /no field/],
    ...['app_hidden', 'app_public'].map(
      (schema) =>
        `create type ${schema}.size as (width int);
         create function app_public.size_text(size ${schema}.size) returns text language sql stable as 'select 1::text'`,
    ),
  ],
  [
    'a foreign key with an index of a part of the rows',
    ...['foreign_key_without_index', key, /a part of the rows/],
    ...[" where name <> ''", ''].map(
      (part) =>
        `drop index app_public.doors_unit_id_idx; create index on app_public.doors (organization_id, unit_id)${part}`,
    ),
  ],
  [
    'values of an enum of one name',
    ...['enum_values_of_one_name', 'app_public.door_state', /'in-repair' and 'in_repair'/],
    ...['in_repair', 'in repairs'].map(
      (value) => `create type app_public.door_state as enum ('in-repair', '>=', '<=', '*', '${value}')`,
    ),
  ],
  [
    'values of an enum in another schema, of which a table has a column',
    ...['enum_values_of_one_name', 'app_hidden.door_state', /'in repair' and 'in-repair'/],
    ...['add state app_hidden.door_state[]', 'add state text'].map(
      (column) =>
        `create type app_hidden.door_state as enum ('in repair', 'in-repair'); alter table app_public.doors ${column}`,
    ),
  ],
  [
    'values of an enum in another schema, which a function returns',
    ...['enum_values_of_one_name', 'app_hidden.door_state', /'in repair' and 'in_repair'/],
    ...['in repair', 'open'].map(
      (value) =>
        `create type app_hidden.door_state as enum ('${value}', 'in_repair');
         create function app_public.doors_states(door app_public.doors) returns app_hidden.door_state[] language sql stable as 'select null::app_hidden.door_state[]'`,
    ),
  ],
  [
    'a key of which no id can be made',
    ...['key_without_id', 'app_public.shifts', /has length in its key, of the type interval/],
    ...['interval', 'time'].map(
      (type) => `
        create table app_public.shifts (organization_id uuid, length ${type}, primary key (organization_id, length));
        comment on table app_public.shifts is 'A shift.'`,
    ),
  ],
  [
    'a table without a comment',
    ...['no_comment', 'app_public.doors', /no description/],
    ...['comment on table app_public.doors is null', onTable('@behavior -list')],
  ],
  [
    'a table whose comment is only tags',
    ...['no_comment', 'app_public.doors', /no description/],
    ...["comment on table app_public.doors is '@behavior -list'", onTable('@behavior -list')],
  ],
] as unknown as Case[])('finds %s', async (_, name, object, detail, wrong, right) => {
  const found = await undone(database.owner, table, wrong, lints);
  expect(found).toContainEqual({ name, object, detail: expect.stringMatching(detail) });

  expect(await undone(database.owner, table, right, lints)).toEqual([]);
});

test('takes a parameter that has no name by its position, and what a range type brings along', async () => {
  const made = `
    create type app_public.span as range (subtype = date);
    create function app_public.door_close(uuid) returns void language sql volatile set search_path = pg_catalog as '';
    comment on function app_public.door_close is E'@mutation\\n@param arg0 Its id.'`;
  const findings = `select name, object from audit.findings where object ~ 'span|door_close'`;

  expect(await undone(database.owner, made, findings)).toEqual([]);
});

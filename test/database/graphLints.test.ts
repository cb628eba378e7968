import { parseSmartComment } from 'postgraphile/graphile-build-pg/pg-introspection';
import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// What the graph would leave out of a migration without a word, and beside each how it is in the graph.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const table = `
  create table app_public.doors (
    organization_id uuid not null, id uuid not null, unit_id uuid not null, name text not null, labels text[],
    constraint doors_pkey primary key (organization_id, id),
    constraint doors_unit_id_fkey foreign key (organization_id, unit_id) references app_public.units);
  create index doors_unit_id_idx on app_public.doors (organization_id, unit_id, id);
  comment on table app_public.doors is 'Doors.';
  create function app_public.door_create(unit_id uuid, name text) returns app_public.doors
    language sql volatile as 'select null::app_public.doors';
  comment on function app_public.door_create is '@mutation'`;

type Case = readonly [what: string, name: string, object: string, detail: RegExp, wrong: string, right: string];

const onTable = (text: string) => `comment on table app_public.doors is E'${text}\\nDoors.'`;
const onColumn = (text: string) => `comment on column app_public.doors.name is E'${text}\\nName.'`;
const onFunction = (text: string) => `comment on function app_public.door_create(uuid, text) is E'${text}'`;
const onKey = (text: string) => `comment on constraint doors_unit_id_fkey on app_public.doors is E'${text}'`;
const reference = (to: string, more = '') => onTable(`@foreignKey (organization_id) references ${to}${more}`);
const create = 'app_public.door_create(uuid,text)';
const key = 'doors_unit_id_fkey on app_public.doors';

test.each<Case>([
  [
    'a tag with a typing error, on a table',
    ...['unknown_tag', 'app_public.doors', /@behaviour/],
    ...[onTable('@behaviour -list'), onTable('@behavior -list')],
  ],
  [
    'a tag with a typing error, on a column',
    ...['unknown_tag', 'app_public.doors.name', /@filtr/],
    ...[onColumn('@filtr names'), onColumn('@filter names')],
  ],
  [
    'a tag with a typing error, on a foreign key',
    ...['unknown_tag', key, /@foreignFieldNam,/],
    ...[onKey('@foreignFieldNam doors'), onKey('@foreignFieldName doors')],
  ],
  [
    'a tag with a typing error, on a check',
    ...['unknown_tag', 'doors_name_text on app_public.doors', /@argumnt/],
    ...['@argumnt', '@argument'].map(
      (tag) =>
        `alter table app_public.doors add constraint doors_name_text check (name <> '');
         comment on constraint doors_name_text on app_public.doors is E'${tag} name\\nA name is not empty.'`,
    ),
  ],
  [
    'a tag with a typing error, on a function',
    ...['unknown_tag', create, /@parm/],
    ...[onFunction('@mutation\\n@parm name Name.'), onFunction('@mutation\\n@param name Name.')],
  ],
  [
    'a tag with a typing error, on a type',
    ...['unknown_tag', 'app_public.state', /@nam,/],
    ...['@nam', '@name'].map(
      (tag) => `create type app_public.state as enum ('open'); comment on type app_public.state is '${tag} door_state'`,
    ),
  ],
  [
    'a tag with a typing error, within a @foreignKey',
    ...['unknown_tag', 'app_public.doors', /@foreignFieldNam,/],
    ...['@foreignFieldNam', '@foreignFieldName'].map((tag) =>
      reference('app_public.app (organization_id)', `|${tag} doors`),
    ),
  ],
  [
    'a tag of an earlier PostGraphile',
    ...['unknown_tag', 'app_public.doors.name', /@omit/],
    ...[onColumn('@omit'), onColumn('@behavior -*')],
  ],
  [
    'a tag below the description',
    ...['tag_without_effect', 'app_public.doors.name', /@filter as text/],
    ...["comment on column app_public.doors.name is E'Name.\\n@filter names'", onColumn('@filter names')],
  ],
  [
    'a tag without a blank before its value',
    ...['tag_without_effect', create, /@param as text/],
    ...[onFunction('@mutation\\n@param{Unit} unitId Unit.'), onFunction('@mutation\\n@param {Unit} unitId Unit.')],
  ],
  [
    '@mutation on a table',
    ...['tag_without_effect', 'app_public.doors', /@mutation, which does nothing on a table/],
    ...[onTable('@mutation'), onFunction('@mutation')],
  ],
  [
    'a tag outside of app_public',
    ...['tag_without_effect', 'app_hidden.door_count()', /outside of app_public/],
    ...['app_hidden', 'app_public'].map(
      (schema) =>
        `create function ${schema}.door_count() returns int language sql volatile as 'select 1';
         comment on function ${schema}.door_count is '@mutation'`,
    ),
  ],
  [
    'a @param of no parameter',
    ...['tag_without_effect', create, /@param title The name., which names none/],
    ...[onFunction('@mutation\\n@param title The name.'), onFunction('@mutation\\n@param unitId Its unit.')],
  ],
  [
    'a @filter without a name',
    ...['tag_without_effect', 'app_public.doors.name', /names no argument/],
    ...[onColumn('@filter'), onColumn('@filter names')],
  ],
  [
    'a @filter whose name is no name',
    ...['tag_without_effect', 'app_public.doors.name', /no name in GraphQL/],
    ...[onColumn('@filter 1st'), onColumn('@filter first1')],
  ],
  [
    'a @filter whose name is taken',
    ...['tag_without_effect', 'app_public.doors.name', /have already/],
    ...[onColumn('@filter ids'), onColumn('@filter names')],
  ],
  [
    'a @filter whose name another column has',
    ...['tag_without_effect', 'app_public.doors.name', /as another column/],
    ...['names', 'units'].map(
      (name) =>
        `${onColumn('@filter names')}; comment on column app_public.doors.unit_id is E'@filter ${name}\\nUnit.'`,
    ),
  ],
  [
    'a @filter on the organization',
    ...['tag_without_effect', 'app_public.doors.organization_id', /does not show/],
    ...['organization_id', 'unit_id'].map(
      (column) => `comment on column app_public.doors.${column} is E'@filter units'`,
    ),
  ],
  [
    'a @filter on a constraint that is no key',
    ...['tag_without_effect', 'doors_labels_text on app_public.doors', /no key/],
    ...["check (name <> '')", 'unique (organization_id, unit_id, name)'].map(
      (rule) =>
        `create type app_public.label_input as (unit_id uuid, name text);
         comment on type app_public.label_input is 'A label.';
         alter table app_public.doors add constraint doors_labels_text ${rule};
         comment on constraint doors_labels_text on app_public.doors is E'@filter labels {LabelInput}\\nLabels.'`,
    ),
  ],
  [
    'a @foreignKey that cannot be read',
    ...['tag_without_effect', 'app_public.doors', /not what it refers to/],
    ...[onTable('@foreignKey organization_id -> app'), reference('app_public.app (organization_id)')],
  ],
  [
    'a @foreignKey to no table',
    ...['tag_without_effect', 'app_public.doors', /no such table/],
    ...[reference('app_public.apps (organization_id)'), reference('app_public.app (organization_id)')],
  ],
  [
    'a @foreignKey to no column',
    ...['tag_without_effect', 'app_public.doors', /no such column/],
    ...[reference('app_public.app (organisation_id)'), reference('app_public.app (organization_id)')],
  ],
  [
    'a @foreignKey out of the graph',
    ...['tag_without_effect', 'app_public.doors', /not in app_public/],
    ...[reference('app_hidden.organizations (id)'), reference('app (organization_id)')],
  ],
  [
    'a @foreignKey to what is no key',
    ...['tag_without_effect', 'app_public.doors', /no key/],
    ...[reference('app_public.users (organization_id)'), reference('app_public.app (organization_id)')],
  ],
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
    'a @param without a name, though its parameter has one',
    ...['tag_without_effect', create, /@param/],
    ...[onFunction('@mutation\\n@param'), onFunction('@mutation\\n@param name')],
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

const lints = 'select name, object, detail from audit.graph_lints';

test('takes a parameter that has no name by its position, and what a range type brings along', async () => {
  const made = `
    create type app_public.span as range (subtype = date);
    create function app_public.door_close(uuid) returns void language sql volatile set search_path = pg_catalog as '';
    comment on function app_public.door_close is E'@mutation\\n@param arg0 Its id.'`;
  const findings = `select name, object from audit.findings where object ~ 'span|door_close'`;

  expect(await undone(database.owner, made, findings)).toEqual([]);
});

test('what is accepted is none', async () => {
  const accept = `insert into audit.accepted values ('unknown_tag', 'app_public.doors', '', 'For a test.')`;

  expect(await undone(database.owner, table, onTable('@behaviour -list'), accept, lints)).toEqual([]);
});

test('the tags that this schema says are known, and each of them is said on what it is for', async () => {
  const said = await undone(
    database.owner,
    `select count(*)::int as lines, count(distinct tag)::int as tags from audit.comment_lines where is_tag`,
  );

  expect(said[0]?.lines).toBeGreaterThan(50);
  expect(said[0]?.tags).toBeGreaterThan(12);
  expect(await undone(database.owner, lints)).toEqual([]);
});

test.each([
  '@a\n@b one\n@b two\nText\n@c',
  '\n@a  spaced ',
  '\nText\n@a',
  '  @a\r\n\t@b\r\nText',
  '@a\n\n@b',
  '@a1_B x|@c y',
  '@a-b',
  '@a\n@',
  'Text',
  '@1',
])('PostGraphile reads the same tags: %j', async (comment) => {
  const tags = Object.entries(parseSmartComment(comment).tags).flatMap(([tag, values]) =>
    [values].flat().map((value) => ({ tag, value: value === true ? '' : value })),
  );

  const found = await undone(
    database.owner,
    table,
    `comment on column app_public.doors.name is E'${JSON.stringify(comment).slice(1, -1)}'`,
    `select tag, value from audit.comment_lines where is_tag and object = 'app_public.doors.name' order by tag, value`,
  );
  expect(found).toEqual(tags);
});

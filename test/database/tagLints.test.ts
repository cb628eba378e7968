import { parseSmartComment } from 'postgraphile/graphile-build-pg/pg-introspection';
import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { type Case, create, key, lints, onColumn, onFunction, onTable, table } from './graphLintCases.ts';

// Tags in comments that do nothing, and beside each how it has its effect.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const onKey = (text: string) => `comment on constraint doors_unit_id_fkey on app_public.doors is E'${text}'`;
const reference = (to: string, more = '') => onTable(`@foreignKey (organization_id) references ${to}${more}`);

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
    'a @filter on values that PostgreSQL cannot sort',
    ...['tag_without_effect', 'app_public.doors.seen', /@filter seen from, which cannot compare values of xid/],
    ...['seen from', 'seen'].map(
      (filter) =>
        `alter table app_public.doors add seen xid; comment on column app_public.doors.seen is E'@filter ${filter}\\nSeen.'`,
    ),
  ],
  [
    'a @filter on values with a part that PostgreSQL cannot compare',
    ...['tag_without_effect', 'app_public.doors.seen', /@filter seen, which cannot compare values of app_public.sight/],
    ...['json', 'jsonb'].map(
      (type) =>
        `create type app_public.sight as (at app_public.app, parts ${type}[]); create domain app_public.sights as app_public.sight;
         alter table app_public.doors add seen app_public.sights; comment on column app_public.doors.seen is E'@filter seen\\nSeen.'`,
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
    'a @param without a name, though its parameter has one',
    ...['tag_without_effect', create, /@param/],
    ...[onFunction('@mutation\\n@param'), onFunction('@mutation\\n@param name')],
  ],
] as unknown as Case[])('finds %s', async (_, name, object, detail, wrong, right) => {
  const found = await undone(database.owner, table, wrong, lints);
  expect(found).toContainEqual({ name, object, detail: expect.stringMatching(detail) });

  expect(await undone(database.owner, table, right, lints)).toEqual([]);
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

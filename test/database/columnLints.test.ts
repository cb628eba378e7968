import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Filters and orders of columns that a role may not read, and beside each how they are right.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const table = `
  create table app_public.doors (
    organization_id uuid not null, id uuid not null, name text not null, external_identifier text,
    "Name key" text generated always as (lower(name)) stored,
    constraint doors_pkey primary key (organization_id, id));
  comment on table app_public.doors is 'Doors.';
  grant select on app_public.doors to graph_app;
  grant select (organization_id, id, external_identifier, name) on app_public.doors to graph_user`;
const key = 'app_public.doors."Name key"';
const onKey = (text: string) => `comment on column ${key} is E'${text}\\nThe name.'`;
const index = (rest: string) => `create index doors_name_idx on app_public.doors ${rest}`;
const grantKey = `grant select ("Name key") on app_public.doors to graph_user`;
const lints = 'select name, level, object, detail, remedy from audit.column_lints';

test('every filter and order of the schema is of columns that its roles may read', async () => {
  const { rows } = await database.owner.query(lints);

  expect(rows).toEqual([]);
});

test('names the column, the role and the right that is missing, as a finding', async () => {
  const found = {
    name: 'column_not_readable',
    level: 'error',
    object: key,
    detail: 'is needed by the filter names; graph_user may not read it, though other columns of the table',
    remedy: 'grant select ("Name key") on app_public.doors to graph_user',
  };

  expect(await undone(database.owner, table, onKey('@behavior -*\\n@filter names anyCase'), lints)).toEqual([found]);
  const findings = `select name, object from audit.findings where name = 'column_not_readable'`;
  expect(await undone(database.owner, table, onKey('@behavior -*\\n@filter names'), findings)).toEqual([
    { name: 'column_not_readable', object: key },
  ]);
  expect(await undone(database.owner, table, onKey('@filter names'), found.remedy, lints)).toEqual([]);
});

test.each<[what: string, object: string, detail: RegExp, wrong: string, right: string]>([
  ['an order by an index', key, /an order;/, index('("Name key")'), index('using hash ("Name key")')],
  [
    'an order by an index of several columns',
    key,
    /an order;/,
    index('(organization_id, name, "Name key")'),
    index(`(organization_id, "Name key") where name <> ''`),
  ],
  [
    'an order and several filters',
    key,
    /an order and the filter hasName and the filter names;/,
    `${index('("Name key")')}; ${onKey('@filter names\\n@filter hasName isNull')}`,
    `${index('("Name key")')}; ${onKey('@behavior -orderBy')}`,
  ],
  [
    'the filter that a name brings along',
    'app_public.doors.external_identifier',
    /the filter externalIdentifiers;/,
    'revoke select (external_identifier) on app_public.doors from graph_user',
    'revoke select (external_identifier) on app_public.doors from graph_user; alter table app_public.doors rename external_identifier to number',
  ],
  [
    'an order of a view',
    'app_public.door_names.name',
    /; graph_basic may not read it/,
    ...(['id', 'id, name'].map(
      (columns) => `
        create view app_public.door_names with (security_invoker = true) as select organization_id, id, name from app_public.doors;
        grant select (${columns}) on app_public.door_names to graph_basic`,
    ) as [string, string]),
  ],
  [
    'a filter for several roles',
    key,
    /graph_basic, graph_user may not read it/,
    `${onKey('@filter names')}; grant select (id, external_identifier) on app_public.doors to graph_basic`,
    `${onKey('@filter names')}; grant select on app_public.doors to graph_basic; ${grantKey}`,
  ],
])('finds %s', async (_, object, detail, wrong, right) => {
  expect(await undone(database.owner, table, wrong, lints)).toEqual([
    expect.objectContaining({ object, detail: expect.stringMatching(detail) }),
  ]);
  expect(await undone(database.owner, table, right, lints)).toEqual([]);
});

test('a role that may read nothing of the table misses nothing, and what is accepted is none', async () => {
  const filter = onKey('@filter names');

  expect(
    await undone(database.owner, table, filter, 'revoke select on app_public.doors from graph_user', lints),
  ).toEqual([]);
  const accept = `insert into audit.accepted values ('column_not_readable', '${key}', '', 'For a test.')`;
  expect(await undone(database.owner, table, filter, accept, lints)).toEqual([]);
});

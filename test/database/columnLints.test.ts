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

describe('of the types of extensions', () => {
  const crates = (type: string) => `
    create extension ltree schema public; create extension citext schema public;
    create domain app_public.code as public.citext check (value ~ '^[a-z]');
    create table app_public.crates (
      organization_id uuid not null, id uuid not null, code ${type} not null,
      constraint crates_pkey primary key (organization_id, id), constraint crates_code_key unique (organization_id, code));
    comment on table app_public.crates is 'Crates.';
    grant select on app_public.crates to graph_app, graph_user; grant insert on app_public.crates to graph_app`;
  const equal = (type: string) => `public.${type}_eq(public.${type}, public.${type})`;
  const functions = (types: readonly string[]) =>
    types
      .flatMap((type) => ['eq', 'lt', 'le', 'gt', 'ge'].map((name) => equal(type).replace('_eq', `_${name}`)))
      .join(', ');

  test.each([
    ['public.citext', ['citext']],
    ['public.ltree', ['ltree']],
    ['app_public.code', ['citext']],
    ['public.ltree[]', ['ltree']],
  ])('finds the operators of %s that its roles may not call, and none that are granted', async (type, types) => {
    const grant = `grant execute on function ${functions(types)}, public.ltree_out(public.ltree) to graph_app, graph_user;
      grant execute on function public.ltree_in(cstring) to graph_app`;
    const check = 'grant execute on function public.texticregexeq(public.citext, public.citext) to graph_app';

    const found = await undone(database.owner, crates(type), `${lints} where object = 'app_public.crates.code'`);

    expect(found).toEqual([
      {
        ...{ name: 'function_not_executable', level: 'error', object: 'app_public.crates.code' },
        detail: 'needs functions that graph_app, graph_user may not call',
        remedy: expect.stringMatching(
          /^grant execute on function (\w+\(\w+(,\w+)?\)(, )?){2,7} to graph_app, graph_user$/,
        ),
      },
    ]);
    expect(await undone(database.owner, crates(type), found.map(({ remedy }) => remedy).join(), check, lints)).toEqual(
      [],
    );
    expect(await undone(database.owner, crates(type), grant, check, lints)).toEqual([]);
    const uncompared = 'alter table app_public.crates drop constraint crates_code_key';
    const written =
      'grant execute on function public.ltree_in(cstring), public.ltree_out(public.ltree) to graph_app, graph_user';
    expect(await undone(database.owner, crates(type), uncompared, check, written, lints)).toEqual([]);
  });

  test.each([
    ['a check', `alter table app_public.crates add check (code ~ 'a')`, /texticregexeq\(citext,citext\) to graph_app$/],
    [
      'a default',
      `alter table app_public.crates alter code set default public.replace('a'::public.citext, 'b', 'c')::public.citext`,
      /replace\(citext,citext,citext\) to graph_app$/,
    ],
    [
      'an index',
      `create index on app_public.crates (public.strpos(code, 'a'::public.citext))`,
      /strpos\(citext,citext\) to graph_app$/,
    ],
    [
      'a policy',
      `create policy select_graph_user on app_public.crates for select to graph_user using (code ~~ 'a'::public.citext)`,
      /texticlike\(citext,citext\) to graph_user$/,
    ],
    [
      'a view',
      `create view app_public.codes with (security_invoker = true) as select public.strpos(code, 'a'::public.citext) as at from app_public.crates;
       grant select on app_public.codes to graph_user`,
      /strpos\(citext,citext\) to graph_user$/,
    ],
  ])('finds the functions that %s calls', async (_, statement, remedy) => {
    const given = [
      crates('public.citext'),
      `grant execute on function ${functions(['citext'])} to graph_app, graph_user`,
    ];

    const found = await undone(database.owner, ...given, statement, lints);

    expect(found).toEqual([
      expect.objectContaining({ name: 'function_not_executable', remedy: expect.stringMatching(remedy) }),
    ]);
    expect(await undone(database.owner, ...given, statement, String(found[0]?.remedy), lints)).toEqual([]);
  });

  test('finds operators in a schema where no request looks', async () => {
    const moved = 'create schema team; alter extension citext set schema team';
    const grant = `grant execute on function ${functions(['citext'])} to graph_app, graph_user`;

    const found = await undone(database.owner, crates('public.citext'), grant, moved, lints);

    expect(found).toEqual([
      expect.objectContaining({ name: 'operator_not_found', remedy: 'alter extension citext set schema public' }),
    ]);
    expect(
      await undone(database.owner, crates('public.citext'), grant, moved, String(found[0]?.remedy), lints),
    ).toEqual([]);
  });
});

import { ask, createTenant, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { define, doors, sqlBody } from './doors.ts';

// Messages that a client gets from a SQLSTATE alone, from a constraint's columns, and from its comment.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query(['create extension ltree;', doors, tables, functions].join('\n'));
  });
});
afterAll(() => graph.stop());

const ofOrganization = (table: string) => `
  alter table app_public.${table} enable row level security, force row level security;
  create policy all_graph_app on app_public.${table} for all to graph_app
    using (organization_id = (select app_hidden.current_organization_id()))
    with check (organization_id = (select app_hidden.current_organization_id()));
  grant select, insert, update, delete on app_public.${table} to graph_app;`;

const key = `
  organization_id uuid not null default app_hidden.current_organization_id(),
  id uuid not null default app_hidden.uuid_v7()`;

const tables = `
  create domain app_public.label as text constraint label_short check (char_length(value) <= 5) constraint label_lower check (value = lower(value));
  comment on constraint label_short on domain app_public.label is E'@argument label\\nA label has at most 5 characters.';
  create domain app_public.tag as app_public.label;
  create domain app_public.pair as text[] constraint pair_of_two check (cardinality(value) = 2);
  create type app_public.window_input as (name text, label app_public.label);
  create type app_public.size as (width integer, height integer);
  create domain app_public.wide as app_public.size constraint wider check ((value).width >= (value).height);
  create type app_public.frame as (size app_public.wide);
  create table app_public.windows (${key},
    name text not null,
    maker text not null,
    width smallint not null,
    height integer not null,
    label app_public.label,
    door_id uuid,
    during tstzrange,
    constraint windows_pkey primary key (organization_id, id),
    constraint windows_width_height_key unique (organization_id, width, height),
    constraint windows_door_id_fkey foreign key (organization_id, door_id) references app_public.doors,
    constraint windows_during_excl exclude using gist (during with &&),
    constraint name_short check (char_length(name) < 10),
    constraint sides check (width <> height),
    constraint name_calm check (name !~ '!')
  );
  create index windows_door_id_idx on app_public.windows (organization_id, door_id, id);
  create unique index windows_name_lower_idx on app_public.windows (organization_id, lower(name));
  create unique index windows_maker_idx on app_public.windows (organization_id, maker, width);
  comment on column app_public.windows.maker is E'@argument by\\nWho made it.';
  comment on index app_public.windows_maker_idx is E'@argument by\\nThe maker has one of this width.';
  comment on constraint name_calm on app_public.windows is E'@argument name\\nA name is no exclamation.';
  comment on constraint name_short on app_public.windows is 'A window has a short name.';
  alter table app_public.doors add constraint name_short check (char_length(name) < 20);
  comment on constraint name_short on app_public.doors is E'@argument name\\nA door has a name that is not long.';
  create table app_public.events (${key}, kind text not null, code text not null,
    constraint events_pkey primary key (organization_id, kind, id),
    constraint events_code_key unique (organization_id, kind, code),
    constraint events_code_text check (code <> '')
  ) partition by list (kind);
  create table app_public.events_a partition of app_public.events for values in ('a');
  comment on constraint events_code_key on app_public.events is E'@argument code\\nAnother event has this code.';
  comment on constraint events_code_text on app_public.events is E'@argument code\\nA code is not empty.';
  comment on table app_public.events is '@behavior -*';
  ${['windows', 'events', 'events_a'].map(ofOrganization).join('\n')}`;

const plpgsql = (body: string) => `language plpgsql volatile as $$\nbegin\n  ${body}\n  return 'done';\nend $$`;

const functions = [
  define(
    `window_create(name text default 'one', by text default 'me', width integer default 1, height integer default 2, label text default null,
                   door uuid default null, during tstzrange default null)`,
    `returns text ${sqlBody(
      `insert into app_public.windows (name, maker, width, height, label, door_id, during)
       values (window_create.name, by, window_create.width, window_create.height, window_create.label, door, window_create.during) returning 'done'`,
    )}`,
    '@mutation\nAdds a window.',
  ),
  define(
    'door_add(name text)',
    `returns text ${sqlBody("insert into app_public.doors (unit_id, name) select gen_random_uuid(), name returning 'done'")}`,
    '@mutation\nAdds a door.',
  ),
  define(
    'event_add(code text)',
    `returns text ${sqlBody("insert into app_public.events (kind, code) values ('a', event_add.code) returning 'done'")}`,
    '@mutation\nAdds an event.',
  ),
  define(
    'windows_add(windows app_public.window_input[], height integer default 2)',
    `returns text ${sqlBody(
      `insert into app_public.windows (name, maker, width, height, label) select w.name, 'me', 1, windows_add.height, w.label from unnest(windows) as w returning 'done'`,
    )}`,
    '@mutation\nAdds windows.',
  ),
  define(
    'tagged(one app_public.tag, other text)',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes a domain.',
  ),
  define(
    'paired(pair app_public.pair, other text[])',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes a domain.',
  ),
  define(
    'both(one app_public.tag, other app_public.tag)',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes two.',
  ),
  define(
    'at(path jsonpath, name text)',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes what has a syntax.',
  ),
  define(
    'in(tree public.ltree, name text, price numeric default null)',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes what has a syntax.',
  ),
  define(
    'measure(speed real, tree public.ltree, rows int4range default null)',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes numbers.',
  ),
  define(
    'framed(frames app_public.frame[], other text)',
    `returns text ${sqlBody("select 'done'")}`,
    '@mutation\nTakes a domain over a composite type.',
  ),
  define(
    'cast_in(tree text, price numeric)',
    `returns text ${sqlBody('select tree::jsonpath::text')}`,
    '@mutation\nCasts.',
  ),
  define('misspelt()', `returns text ${plpgsql("execute 'selec 1';")}`, '@mutation\nHas a mistake.'),
  define('unused()', `returns text ${plpgsql('select 1;')}`, '@mutation\nHas another.'),
  define('divide(by integer)', `returns text ${plpgsql('perform 1 / by;')}`, '@mutation\nDivides.'),
  define(
    'say(state text, what text)',
    `returns text language plpgsql volatile as $$ begin raise exception using errcode = state, message = what; end $$`,
    '@mutation\nSays what is wrong.',
  ),
  define(
    'break(rule text)',
    `returns text ${plpgsql("raise check_violation using message = 'Said', schema = 'app_public', table = 'windows', constraint = rule;")}`,
    '@mutation\nBreaks a rule.',
  ),
  define(
    'found(name text)',
    `returns text ${plpgsql('declare w record; begin select * into strict w from app_public.windows x where x.name = found.name; end;')}`,
    '@mutation\nFinds.',
  ),
  define(
    'mistaken()',
    `returns text ${plpgsql('update app_public.windows set nme = 1;')}`,
    '@mutation\nHas a mistake.',
  ),
  define(
    'forbidden()',
    `returns text ${plpgsql('update oauth.applications set name = name;')}`,
    '@mutation\nChanges what only the OAuth server may.',
  ),
  define(
    'forbidden_too()',
    `returns text ${plpgsql('update oauth.application_secrets set secret_hash = secret_hash;')}`,
    '@mutation\nChanges another table that only the OAuth server may.',
  ),
].join('\n');

/** The status of the answer, and what its only error says. */
const errorOf = async (mutation: string) => {
  const { status, body } = await ask(graph, tenant.app, `mutation { it: ${mutation} { result } }`);
  const [error] = body.errors ?? [];
  const { requestId: _id, ...extensions } = error?.extensions ?? { code: 'done' };
  return { status, message: error?.message, ...extensions };
};

const done = { status: 200, message: undefined, code: 'done' };

test.each<[string, string[], object]>([
  [
    'unique, by its columns',
    ['windowCreate(name: "two", by: "you")'],
    { code: 'CONFLICT', message: 'The combination of width and height is already used.' },
  ],
  [
    'a unique index of expressions',
    ['windowCreate(name: "ONE", width: 7, by: "you")'],
    { code: 'CONFLICT', message: 'A value is already used.' },
  ],
  [
    'a unique index with a comment',
    ['windowCreate(name: "two", height: 7)'],
    { code: 'CONFLICT', argument: 'by', message: 'The maker has one of this width.' },
  ],
  [
    'exclude',
    [
      'windowCreate(name: "two", width: 8, during: { start: { value: "2026-01-01T00:00:00Z", inclusive: true } })',
      'windowCreate(name: "three", width: 9, during: { start: { value: "2027-01-01T00:00:00Z", inclusive: true } })',
    ],
    { code: 'CONFLICT', message: 'during overlaps with what is already there.' },
  ],
  [
    'check, by its columns',
    ['windowCreate(name: "two", width: 5, height: 5)'],
    { code: 'BAD_USER_INPUT', message: 'The combination of width and height is not allowed.' },
  ],
  [
    'check, with a comment and no @argument',
    ['windowCreate(name: "much too long", width: 5)'],
    { code: 'BAD_USER_INPUT', message: 'A window has a short name.' },
  ],
  [
    'check of the same name on another table',
    ['doorAdd(name: "much too long for any door")'],
    { code: 'BAD_USER_INPUT', argument: 'name', message: 'A door has a name that is not long.' },
  ],
  [
    'foreign key',
    ['windowCreate(name: "two", width: 5, door: "00000000-0000-7000-8000-000000000000")'],
    { code: 'BAD_USER_INPUT', message: 'doorId refers to what is not there, or is still referred to.' },
  ],
  [
    'not null, with a comment',
    ['windowCreate(name: "two", width: 5, by: null)'],
    { code: 'BAD_USER_INPUT', argument: 'by', message: 'maker cannot be null.' },
  ],
  ['not null', ['windowCreate(name: null, width: 5)'], { code: 'BAD_USER_INPUT', message: 'name cannot be null.' }],
  [
    'check of a domain, with a comment',
    ['windowCreate(name: "two", width: 5, label: "too long")'],
    { code: 'BAD_USER_INPUT', argument: 'label', message: 'A label has at most 5 characters.' },
  ],
  [
    'check of a domain',
    ['windowCreate(name: "two", width: 5, label: "A")'],
    { code: 'BAD_USER_INPUT', argument: 'label', message: 'label is not allowed.' },
  ],
  [
    'check of a domain over another, by its argument',
    ['tagged(one: "A", other: "A")'],
    { code: 'BAD_USER_INPUT', argument: 'one', message: 'one is not allowed.' },
  ],
  [
    'check of a domain with the comment of that beneath, by its argument',
    ['tagged(one: "too long", other: "a")'],
    { code: 'BAD_USER_INPUT', argument: 'one', message: 'A label has at most 5 characters.' },
  ],
  [
    'check of a domain that two arguments have',
    ['both(one: "a", other: "A")'],
    { code: 'BAD_USER_INPUT', message: 'A value is not one of the type Tag.' },
  ],
  [
    'check of a domain over an array',
    ['paired(pair: ["a"], other: ["a"])'],
    { code: 'BAD_USER_INPUT', argument: 'pair', message: 'pair is not allowed.' },
  ],
  [
    'check of a domain in an input object',
    ['windowsAdd(windows: [{ name: "a", label: "too long" }])'],
    { code: 'BAD_USER_INPUT', argument: 'windows', message: 'A label has at most 5 characters.' },
  ],
  [
    'check of a domain over a composite type in an input object',
    ['framed(frames: [{ size: { width: 1, height: 2 } }], other: "a")'],
    { code: 'BAD_USER_INPUT', argument: 'frames', message: 'frames is not allowed.' },
  ],
  [
    'a constraint whose @argument the mutation lacks',
    ['windowsAdd(windows: [{ name: "a" }, { name: "b" }], height: 9)'],
    { code: 'CONFLICT', message: 'The maker has one of this width.' },
  ],
  [
    'a constraint whose @argument is a field of an input object',
    ['windowsAdd(windows: [{ name: "a!" }])'],
    { code: 'BAD_USER_INPUT', argument: 'windows', message: 'A name is no exclamation.' },
  ],
  [
    'the syntax of a path, by its argument',
    ['at(path: "$..", name: "a")'],
    { code: 'BAD_USER_INPUT', argument: 'path' },
  ],
  [
    'the syntax of a type of an extension, by its argument',
    ['in(tree: "a b", name: "a", price: null)'],
    { code: 'BAD_USER_INPUT', argument: 'tree' },
  ],
  [
    'a number that only PostgreSQL finds too large, beside a type with a syntax',
    ['measure(speed: 1e39, tree: "a")'],
    { code: 'BAD_USER_INPUT', argument: 'speed' },
  ],
  [
    'a range that ends before it begins, beside a type with a syntax',
    [
      'measure(speed: 1, tree: "a", rows: { start: { value: 3, inclusive: true }, end: { value: 1, inclusive: true } })',
    ],
    { code: 'BAD_USER_INPUT', argument: 'rows' },
  ],
  ['a syntax that either of two may break', ['in(tree: "a b", name: "a", price: 1)'], { code: 'BAD_USER_INPUT' }],
  ['a syntax that a function has broken', ['castIn(tree: "$..", price: 1)'], { code: 'BAD_USER_INPUT' }],
  [
    'unique of a partition',
    ['eventAdd(code: "x")', 'eventAdd(code: "x")'],
    { code: 'CONFLICT', argument: 'code', message: 'Another event has this code.' },
  ],
  [
    'check of a partition',
    ['eventAdd(code: "")'],
    { code: 'BAD_USER_INPUT', argument: 'code', message: 'A code is not empty.' },
  ],
  ['22003', ['windowCreate(name: "two", width: 40000)'], { code: 'BAD_USER_INPUT' }],
  ['22012', ['divide(by: 0)'], { code: 'BAD_USER_INPUT' }],
  ['no_data_found of a select', ['found(name: "none")'], { code: 'NOT_FOUND', message: 'query returned no rows.' }],
  [
    'no_data_found that is raised',
    ['say(state: "P0002", what: "There is no such thing")'],
    { code: 'NOT_FOUND', message: 'There is no such thing.' },
  ],
  [
    'check_violation that is raised',
    ['say(state: "23514", what: "It ends before it begins.")'],
    { code: 'BAD_USER_INPUT', message: 'It ends before it begins.' },
  ],
  [
    'a constraint that a function names, by its comment',
    ['break(rule: "name_short")'],
    { code: 'BAD_USER_INPUT', message: 'A window has a short name.' },
  ],
  [
    'a constraint that a function names, without a comment',
    ['break(rule: "sides")'],
    { code: 'BAD_USER_INPUT', message: 'Said.' },
  ],
  ['unique_violation that is raised', ['say(state: "23505", what: "Taken")'], { code: 'CONFLICT', message: 'Taken.' }],
  ['restrict_violation', ['say(state: "23001", what: "In use")'], { code: 'BAD_USER_INPUT', message: 'In use.' }],
  [
    'an exception without a state',
    ['say(state: "P0001", what: "Secret 42")'],
    { code: 'INTERNAL', message: 'Something went wrong on our side.' },
  ],
  ['a syntax error', ['misspelt'], { code: 'INTERNAL', message: 'Something went wrong on our side.' }],
  ['a select without a target', ['unused'], { code: 'INTERNAL', message: 'Something went wrong on our side.' }],
  ['a mistake in a body', ['mistaken'], { code: 'INTERNAL', message: 'Something went wrong on our side.' }],
  ['a right that is missing', ['forbidden'], { code: 'FORBIDDEN', message: 'The access token does not allow this.' }],
])('a client is told of %s', async (_, mutations, expected) => {
  await graph.database.owner.query('truncate app_public.windows, app_public.events');
  const before = ['windowCreate', ...mutations.slice(0, -1)];

  for (const mutation of before) expect(await errorOf(mutation)).toEqual(done);

  expect(await errorOf(mutations.at(-1) ?? '')).toEqual({ status: 200, message: expect.any(String), ...expected });
});

test('what does not break the rules is done', async () => {
  await graph.database.owner.query('truncate app_public.windows, app_public.events');

  expect(await errorOf('windowCreate(name: "two", width: 5, label: "a", during: null)')).toEqual(done);
  expect(await errorOf('eventAdd(code: "y")')).toEqual(done);
  expect(await errorOf('divide(by: 1)')).toEqual(done);
  expect(await errorOf('tagged(one: "a", other: "A")')).toEqual(done);
  expect(await errorOf('paired(pair: ["a", "b"], other: [])')).toEqual(done);
  expect(await errorOf('at(path: "$.a", name: "")')).toEqual(done);
  expect(await errorOf('in(tree: "a.b", name: "")')).toEqual(done);
  expect(await errorOf('found(name: "two")')).toEqual(done);
});

test('a missing right is logged with its object, a mistake with its function and line, and neither with a value', async () => {
  const since = graph.logs.length;

  await errorOf('forbidden');
  await errorOf('mistaken');
  await errorOf('windowCreate(name: "value-of-a-client", width: 5)');

  const lines = graph.logs.slice(since);
  expect(lines.find((line) => line.includes('a right is missing'))).toContain(
    'permission denied for table applications',
  );
  expect(lines.find((line) => line.includes('a field failed'))).toContain(
    'PL/pgSQL function app_public.mistaken() line 3 at SQL statement',
  );
  expect(lines.filter((line) => line.includes('value-of-a-client'))).toEqual([]);
});

test('a minute has a hundred warnings of a right, whatever asks, and those of another right', async () => {
  const since = graph.logs.length;

  for (let asked = 0; asked < 101; asked++) await errorOf('forbidden');
  await errorOf('forbiddenToo');

  const warnings = graph.logs
    .slice(since)
    .filter((line) => line.includes('a right is missing') && line.includes('"level":40'));
  // The tests before may have had some in this minute.
  const ofOne = warnings.filter((line) => line.includes('table applications'));
  expect([ofOne.length > 90, ofOne.length <= 100]).toEqual([true, true]);
  expect(warnings.length - ofOne.length).toBe(1);
});

test('what is told of constraints is told in every organization alike', async () => {
  const other = await createTenant(graph);
  await graph.database.owner.query('truncate app_public.windows');

  await errorOf('windowCreate');

  expect(await read(graph, other.app, 'mutation { windowCreate { result } }')).toEqual({
    windowCreate: { result: 'done' },
  });
});

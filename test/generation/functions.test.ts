import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
  type TestUnit,
} from '../graphql/support.ts';
import { define, doors, sqlBody } from './doors.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
let depot: TestUnit;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query([doors, types, fields, mutations].join('\n'));
    await database.owner.query('grant execute on function app_public.units_doors_named to graph_user');
  });
  depot = await createUnit(tenant, { name: 'Depot' });
  await createUnit(tenant, { name: 'Annex' });
  const query = 'mutation ($doors: [DoorInput!]!) { doorsCreate(doors: $doors) { doors { name } } }';
  const names = ['North gate', 'North hatch', 'South gate'];
  const given = names.map((name) => ({ unitId: depot.id, name }));
  expect(await run(query, { doors: given })).toEqual({ doorsCreate: { doors: names.map((name) => ({ name })) } });
});
afterAll(() => graph.stop());

const types = `
  create type app_public.door_colour as enum ('red', 'green');
  create domain app_public.label as text constraint label_length check (char_length(value) <= 5);
  create type app_public.door_size as (width numeric, height numeric);
  create type app_public.door_input as (
    unit_id uuid, name text, note text, tags text[], size app_public.door_size, colour app_public.door_colour);
  comment on type app_public.door_input is 'A door to be added.';
  comment on column app_public.door_input.unit_id is E'@type {Unit}\\n@notNull\\nThe unit that it belongs to.';
  comment on column app_public.door_input.name is E'@notNull\\nName.';
  create type app_public.door_changes as (name text, note text, tags text[], unit_id uuid);
  comment on column app_public.door_changes.unit_id is '@type {Unit}';
  create type app_public.door_key as (id uuid, name text);
  comment on type app_public.door_key is E'@oneOf\\nWhich door.';
  comment on column app_public.door_key.id is '@type {Door}';`;

const fields = [
  define(
    'units_doors_named(unit app_public.units, prefix text)',
    `returns setof app_public.doors ${sqlBody('select * from app_public.doors d where d.unit_id = unit.id and starts_with(d.name, prefix)', 'stable')}`,
    '@param prefix What the names begin with.\nDoors of the unit by their names.',
  ),
  define(
    "units_door_names(unit app_public.units, prefix text default null, suffix text default '!')",
    `returns setof text ${sqlBody("select d.name || coalesce(suffix, ' null') from app_public.doors d where d.unit_id = unit.id and starts_with(d.name, coalesce(prefix, '')) order by 1", 'stable')}`,
    'Names of doors.',
  ),
  define(
    'units_products(unit app_public.units, factors integer[], "by" integer default 2)',
    `returns integer[] ${sqlBody('select array(select f * "by" from unnest(factors) f)', 'stable')}`,
    'Numbers.',
  ),
  define(
    'units_greeting(unit app_public.units, greeting text, "Whom" text default \'you\')',
    `returns text ${sqlBody("select greeting || ' ' || coalesce(\"Whom\", 'null')", 'stable')}`,
    'A text.',
  ),
  define(
    'units_strict(unit app_public.units, "constructor" text, note text default \'none\')',
    `returns text strict ${sqlBody('select "constructor" || note', 'stable')}`,
    'A text, or null.',
  ),
  define(
    'units_is_near(unit app_public.units, others uuid[], other uuid default null)',
    `returns boolean ${sqlBody('select unit.id = any (others) or unit.id = other', 'stable')}`,
    '@param {Unit} others Units.\n@param {Unit} other A unit.\nWhether it is one of them.',
  ),
  define(
    'units_lengths(unit app_public.units, above integer default 0)',
    `returns table (name text, length integer) ${sqlBody('select d.name, char_length(d.name) from app_public.doors d where d.unit_id = unit.id and char_length(d.name) >= above order by 1', 'stable')}`,
    'How long the names of the doors are.',
  ),
  define(
    'units_sizes(unit app_public.units, widths numeric[])',
    `returns setof app_public.door_size ${sqlBody('select w, w * 2 from unnest(widths) w', 'stable')}`,
    'Sizes.',
  ),
].join('\n');

const insertDoors =
  "insert into app_public.doors (unit_id, name, note, tags) select d.unit_id, d.name, coalesce(d.note, (d.size).width || 'x' || (d.size).height, d.colour::text), coalesce(d.tags, '{}')";

const mutations = [
  define(
    'door_create(door app_public.door_input)',
    `returns app_public.doors ${sqlBody(`${insertDoors} from (select door.*) d returning *`)}`,
    '@mutation\n@param door The door.\nAdds a door.',
  ),
  define(
    'doors_create(doors app_public.door_input[])',
    `returns setof app_public.doors ${sqlBody(`${insertDoors} from unnest(doors) d returning *`)}`,
    '@mutation\nAdds doors.',
  ),
  define(
    'doors_array(doors app_public.door_input[])',
    `returns app_public.doors[] ${sqlBody(`with added as (${insertDoors} from unnest(doors) d returning *) select array_agg(added::text::app_public.doors) from added`)}`,
    '@mutation\nAdds doors.',
  ),
  define(
    'door_update(door uuid, changes jsonb)',
    `returns app_public.doors ${sqlBody(`update app_public.doors d set (name, note, tags, unit_id) =
       (select c.name, c.note, c.tags, c.unit_id from jsonb_populate_record(
          row (d.name, d.note, d.tags, d.unit_id)::app_public.door_changes, changes) c)
       where d.id = door_update.door returning *`)}`,
    '@mutation\n@param {Door} door The door.\n@param {DoorChange} changes What changes.\nChanges a door.',
  ),
  define(
    'doors_named(keys uuid[])',
    `returns setof text ${sqlBody('select d.name from unnest(keys) with ordinality k (id, n) join app_public.doors d using (id) order by n')}`,
    '@mutation\n@param {Door} keys Doors.\nNames of doors.',
  ),
  define(
    'doors_count(names text[] default null)',
    `returns integer ${sqlBody('select count(*)::integer from app_public.doors where names is null or name = any (names)')}`,
    '@mutation\nCounts doors.',
  ),
  define('names_array()', `returns text[] ${sqlBody("select array['a', null]")}`, '@mutation\nAn array.'),
  define(
    'door_forget(key app_public.door_key)',
    `returns void ${sqlBody('delete from app_public.doors where id = key.id or name = key.name')}`,
    '@mutation\nForgets a door.',
  ),
  define(
    'door_measure(width numeric default 1)',
    `returns app_public.door_size ${sqlBody('select width, width * 2')}`,
    '@mutation\nMeasures.',
  ),
  define(
    'doors_measure(widths numeric[])',
    `returns setof app_public.door_size ${sqlBody('select w, w * 2 from unnest(widths) w')}`,
    '@mutation\nMeasures.',
  ),
  define(
    'door_sides(width integer, out "left" integer, out "right" integer)',
    sqlBody('select width, -width'),
    '@mutation\nTwo numbers.',
  ),
  define(
    'door_rows(above integer)',
    `returns table (id integer, name text) ${sqlBody("select above, 'a'")}`,
    '@mutation\nRows of its own.',
  ),
  define(
    `echo(n numeric default 0, b bytea default '', i interval default '0', d app_public.label default '', r int4range default 'empty',
          j jsonb default null, e app_public.door_colour default 'red', t timestamptz default null, z boolean default null)`,
    `returns text ${sqlBody("select concat_ws(' ', n, b, i, d, r, j, e, t at time zone 'UTC', z)")}`,
    '@mutation\nSays what it was given.',
  ),
  define(
    'names("__proto__" text, "constructor" text, "Two words" text)',
    `returns text ${sqlBody('select "__proto__" || "constructor" || "Two words"')}`,
    '@mutation\nTakes what JavaScript knows.',
  ),
  define(
    'owner_name()',
    `returns text ${sqlBody('select current_user::text')} security definer`,
    '@mutation\nRuns as its owner.',
  ),
].join('\n');

const run = (query: string, variables: object = {}) => read<object>(graph, tenant.app, query, { ...variables });

/** Reads a selection of the unit that the tests are about. */
const ofDepot = async (selection: string, variables: object = {}, definitions = '') => {
  const query = `query ($id: ID!${definitions}) { node(id: $id) { ... on Unit { ${selection} } } }`;
  const { node } = await read<{ node: object }>(graph, tenant.app, query, { id: depot.id, ...variables });
  return node;
};

/** The status and errors of a request. */
const refusals = async (query: string, variables: object = {}) => {
  const { status, body } = await ask(graph, tenant.app, query, { ...variables });
  return [status, ...(body.errors ?? []).map(({ message, extensions }) => [message, extensions])];
};

describe('a function of a row', () => {
  test('that returns rows is a connection with the arguments of both', async () => {
    expect(await ofDepot('doorsNamed(prefix: "North") { totalCount nodes { name } }')).toEqual({
      doorsNamed: { totalCount: 2, nodes: [{ name: 'North gate' }, { name: 'North hatch' }] },
    });
    expect(
      await ofDepot(
        'doorsNamed(prefix: $prefix, first: 1, orderBy: NAME_DESC) { totalCount nodes { name } }',
        { prefix: 'North' },
        ', $prefix: String!',
      ),
    ).toEqual({ doorsNamed: { totalCount: 2, nodes: [{ name: 'North hatch' }] } });
  });

  test('that returns rows is paged to the end, both ways', async () => {
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { doorsNamed } = (await ofDepot(
        'doorsNamed(prefix: "", first: 2, after: $after, orderBy: NAME_ASC) { nodes { name } pageInfo { hasNextPage endCursor } }',
        { after },
        ', $after: Cursor',
      )) as { doorsNamed: { nodes: { name: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };
      names.push(...doorsNamed.nodes.map(({ name }) => name));
      after = doorsNamed.pageInfo.hasNextPage ? doorsNamed.pageInfo.endCursor : null;
    } while (after);

    expect(names).toEqual(['North gate', 'North hatch', 'South gate']);
    expect(await ofDepot('doorsNamed(prefix: "", last: 1, orderBy: NAME_ASC) { nodes { name } }')).toEqual({
      doorsNamed: { nodes: [{ name: 'South gate' }] },
    });
  });

  test.each<[string, string, object]>([
    ['values, with the defaults', 'doorNames', { doorNames: ['North gate!', 'North hatch!', 'South gate!'] }],
    ['values, with null', 'doorNames(prefix: "South", suffix: null)', { doorNames: ['South gate null'] }],
    ['an array', 'products(factors: [1, 2])', { products: [2, 4] }],
    ['an array of none', 'products(factors: [], by: 3)', { products: [] }],
    ['a value', 'greeting(greeting: "Hello")', { greeting: 'Hello you' }],
    ['a value of null', 'greeting(greeting: "Hello", whom: null)', { greeting: 'Hello null' }],
    ['a value unless one is null, omitted', 'strict(constructor: "a")', { strict: 'anone' }],
    ['a value unless one is null, null', 'strict(constructor: "a", note: null)', { strict: null }],
    ['rows of its own', 'lengths(above: 11) { name length }', { lengths: [{ name: 'North hatch', length: 11 }] }],
    [
      'composites',
      'sizes(widths: ["1.5", "2"]) { width height }',
      {
        sizes: [
          { width: '1.5', height: '3.0' },
          { width: '2', height: '4' },
        ],
      },
    ],
  ])('that returns %s is called', async (_, selection, expected) => {
    expect(await ofDepot(selection)).toEqual(expected);
  });

  test('takes ids by @param, and lists of them', async () => {
    const annex = await createUnit(tenant);
    const isNear = (variables: object) =>
      ofDepot('isNear(others: $others, other: $other)', variables, ', $others: [ID!]!, $other: ID');

    expect(await isNear({ others: [annex.id, depot.id] })).toEqual({ isNear: true });
    expect(await isNear({ others: [annex.id] })).toEqual({ isNear: null });
    expect(await isNear({ others: [], other: depot.id })).toEqual({ isNear: true });
  });

  test('requires what has no default, and is described', async () => {
    const { __type } = await read<{ __type: { fields: { name: string; args: { name: string }[] }[] } }>(
      graph,
      null,
      '{ __type(name: "Unit") { fields { name args { name description type { kind name ofType { kind name ofType { kind ofType { name } } } } } } } }',
    );
    const argsOf = (field: string) => __type.fields.find(({ name }) => name === field)?.args;

    expect(argsOf('doorsNamed')?.find(({ name }) => name === 'prefix')).toEqual({
      name: 'prefix',
      description: 'What the names begin with.',
      type: { kind: 'NON_NULL', name: null, ofType: { kind: 'SCALAR', name: 'String', ofType: null } },
    });
    expect(argsOf('isNear')).toMatchObject([
      {
        name: 'others',
        type: { kind: 'NON_NULL', ofType: { kind: 'LIST', ofType: { kind: 'NON_NULL', ofType: { name: 'ID' } } } },
      },
      { name: 'other', type: { kind: 'SCALAR', name: 'ID' } },
    ]);
    expect(argsOf('strict')).toMatchObject([{ type: { kind: 'NON_NULL' } }, { type: { kind: 'SCALAR' } }]);
    expect(await refusals(`{ node(id: "${depot.id}") { ... on Unit { greeting } } }`)).toEqual([
      400,
      [expect.stringContaining('"greeting" of type "String!" is required'), { code: 'GRAPHQL_VALIDATION_FAILED' }],
    ]);
  });

  test.each<[string, string, object]>([
    ['NUL', 'greeting(greeting: $text)', { argument: 'greeting' }],
    ['NUL in a list of rows', 'doorsNamed(prefix: $text) { totalCount }', { argument: 'prefix' }],
    ['NUL in a list of values', 'doorNames(prefix: $text)', { argument: 'prefix' }],
  ])('refuses %s before anything is executed', async (_, selection, extensions) => {
    const query = (id: string) => `query ($text: String!) { node(id: "${id}") { ... on Unit { ${selection} } } }`;

    expect(await refusals(query(depot.id), { text: 'a\0' })).toEqual([
      400,
      [expect.stringContaining('Unicode'), { code: 'BAD_USER_INPUT', ...extensions }],
    ]);
    expect(await refusals(query(depot.id), { text: 'a' })).toEqual([200]);
  });

  test('refuses ids of another type, and lists that are too long', async () => {
    const user = await createUser(tenant);
    const query = `query ($others: [ID!]!) { node(id: "${depot.id}") { ... on Unit { isNear(others: $others) } } }`;
    const refused = [400, [expect.any(String), { code: 'BAD_USER_INPUT', argument: 'others' }]];

    expect(await refusals(query, { others: [depot.id, user.id] })).toEqual(refused);
    expect(await refusals(query, { others: ['nonsense'] })).toEqual(refused);
    expect(await refusals(query, { others: Array(1001).fill(depot.id) })).toEqual(refused);
    expect(await refusals(query, { others: Array(1000).fill(depot.id) })).toEqual([200]);
  });

  test('shows no row that its caller may not see', async () => {
    const ada = await createViewer(tenant);
    const query = `{ node(id: "${depot.id}") { ... on Unit { doorsNamed(prefix: "") { totalCount } } } }`;

    expect(await read(graph, ada.token, query)).toEqual({ node: null });
    expect(await read(graph, tenant.app, query)).toEqual({ node: { doorsNamed: { totalCount: 3 } } });
  });
});

describe('a mutation', () => {
  test('takes an input object, nested, with ids, lists and enums, as literal and as variable', async () => {
    const literal = `mutation ($unit: ID!, $note: String) { doorCreate(door: {
      unitId: $unit, name: "Literal", note: $note, tags: ["a", "b,\\"c"], size: { width: "1.5", height: "2" }, colour: green
    }) { door { name note tags unit { name } } } }`;
    const variable = 'mutation ($door: DoorInput!) { doorCreate(door: $door) { door { name note tags } } }';
    const door = { unitId: depot.id, name: 'Variable', tags: [], colour: 'red' };

    expect(await run(literal, { unit: depot.id })).toEqual({
      doorCreate: { door: { name: 'Literal', note: '1.5x2', tags: ['a', 'b,"c'], unit: { name: 'Depot' } } },
    });
    expect(await run(variable, { door })).toEqual({
      doorCreate: { door: { name: 'Variable', note: 'red', tags: [] } },
    });
  });

  test('takes a list of them, and returns rows by their plural', async () => {
    const create = (field: string) =>
      `mutation ($doors: [DoorInput!]!) { ${field}(doors: $doors) { doors { name unit { name } } } }`;
    const named = (...names: string[]) => ({ doors: names.map((name) => ({ unitId: depot.id, name })) });
    const rows = (...names: string[]) => ({ doors: names.map((name) => ({ name, unit: { name: 'Depot' } })) });

    expect(await run(create('doorsCreate'), named('Set 2', 'Set 1'))).toEqual({ doorsCreate: rows('Set 2', 'Set 1') });
    expect(await run(create('doorsCreate'), named())).toEqual({ doorsCreate: rows() });
    // One item for a list of it (GraphQL section 3.11), as variable and as literal.
    expect(await run(create('doorsCreate'), { doors: named('Alone').doors[0] })).toEqual({
      doorsCreate: rows('Alone'),
    });
    const literal =
      'mutation ($unit: ID!) { doorsCreate(doors: { unitId: $unit, name: "Literally", tags: "x" }) { doors { tags } } }';
    expect(await run(literal, { unit: depot.id })).toEqual({ doorsCreate: { doors: [{ tags: ['x'] }] } });
    expect(await run(create('doorsArray'), named('Array 2', 'Array 1'))).toEqual({
      doorsArray: rows('Array 2', 'Array 1'),
    });
    expect(await run(create('doorsArray'), named())).toEqual({ doorsArray: rows() });
  });

  test('tells absent from null where a jsonb has an input type', async () => {
    const create = 'mutation ($door: DoorInput!) { doorCreate(door: $door) { door { id } } }';
    const update =
      'mutation ($id: ID!, $changes: DoorChangeInput!) { doorUpdate(door: $id, changes: $changes) { door { name note tags unit { name } } } }';
    const { doorCreate } = (await run(create, {
      door: { unitId: depot.id, name: 'Patch', note: 'old', tags: ['x'] },
    })) as {
      doorCreate: { door: { id: string } };
    };
    const { id } = doorCreate.door;
    const before = { name: 'Patch', note: 'old', tags: ['x'], unit: { name: 'Depot' } };
    const annex = await createUnit(tenant, { name: 'Annexe' });
    const changed = async (changes: object) => run(update, { id, changes });

    expect(await changed({})).toEqual({ doorUpdate: { door: before } });
    expect(await changed({ note: null })).toEqual({ doorUpdate: { door: { ...before, note: null } } });
    expect(await changed({ tags: ['y', 'z'], note: 'new' })).toEqual({
      doorUpdate: { door: { ...before, tags: ['y', 'z'], note: 'new' } },
    });
    expect(await changed({ unitId: annex.id })).toMatchObject({ doorUpdate: { door: { unit: { name: 'Annexe' } } } });
    expect(
      await run(
        `mutation ($n: String, $m: String) { doorUpdate(door: "${id}", changes: { name: $n, note: $m }) { door { name note } } }`,
        { n: 'Patched' },
      ),
    ).toEqual({ doorUpdate: { door: { name: 'Patched', note: 'new' } } });
  });

  test('takes exactly one of @oneOf, and returns ok for void', async () => {
    const forget = 'mutation ($key: DoorKeyInput!) { doorForget(key: $key) { ok } }';
    const count = 'mutation { doorsCount(names: ["Gone"]) { result } }';
    const door = { unitId: depot.id, name: 'Gone' };
    await run('mutation ($door: DoorInput!) { doorCreate(door: $door) { door { id } } }', { door });

    for (const key of [{}, { name: 'Gone', id: 'RG9vcg' }, { name: null }])
      expect(await refusals(forget, { key })).toEqual([
        400,
        [expect.any(String), { code: 'BAD_USER_INPUT', argument: 'key', variable: 'key' }],
      ]);
    const inParts = 'mutation ($name: String) { doorForget(key: { name: $name }) { ok } }';
    for (const variables of [{}, { name: null }])
      expect(await refusals(inParts, variables)).toEqual([
        400,
        [expect.any(String), { code: 'BAD_USER_INPUT', argument: 'key', variable: 'name' }],
      ]);
    for (const key of ['{}', '{ name: null }', '{ name: "Gone", id: "RG9vcg" }'])
      expect((await ask(graph, tenant.app, `mutation { doorForget(key: ${key}) { ok } }`)).status).toBe(400);
    expect(await run(count)).toEqual({ doorsCount: { result: 1 } });
    expect(await run(inParts, { name: 'Nothing' })).toEqual({ doorForget: { ok: true } });
    expect(await run(count)).toEqual({ doorsCount: { result: 1 } });
    expect(await run(forget, { key: { name: 'Gone' } })).toEqual({ doorForget: { ok: true } });
    expect(await run(count)).toEqual({ doorsCount: { result: 0 } });
    expect(await read(graph, null, '{ __type(name: "DoorKeyInput") { isOneOf description } }')).toEqual({
      __type: { isOneOf: true, description: 'Which door.' },
    });
  });

  test('takes a list of ids, in their order', async () => {
    const { node } = await read<{ node: { doorsNamed: { nodes: { id: string }[] } } }>(
      graph,
      tenant.app,
      `{ node(id: "${depot.id}") { ... on Unit { doorsNamed(prefix: "North", orderBy: NAME_DESC) { nodes { id } } } } }`,
    );
    const keys = node.doorsNamed.nodes.map(({ id }) => id);

    expect(await run('mutation ($keys: [ID!]!) { doorsNamed(keys: $keys) { result } }', { keys })).toEqual({
      doorsNamed: { result: ['North hatch', 'North gate'] },
    });
    expect(
      await refusals('mutation ($keys: [ID!]!) { doorsNamed(keys: $keys) { result } }', { keys: [depot.id] }),
    ).toEqual([200, ['keys[0] is not the id of a Door.', { code: 'BAD_USER_INPUT', argument: 'keys' }]]);
  });

  test.each<[string, string, unknown]>([
    ['a scalar', 'doorsCount(names: ["North gate", "?"]) { result }', { result: 1 }],
    ['an array', 'namesArray { result }', { result: ['a', null] }],
    [
      'a composite',
      'doorMeasure(width: "2.5") { result { width height } }',
      { result: { width: '2.5', height: '5.0' } },
    ],
    ['a composite by default', 'doorMeasure { result { width } }', { result: { width: '1' } }],
    ['a set of composites', 'doorsMeasure(widths: ["1"]) { result { height } }', { result: [{ height: '2' }] }],
    ['out parameters', 'doorSides(width: 3) { result { left right } }', { result: { left: 3, right: -3 } }],
    ['a table', 'doorRows(above: 3) { result { id name } }', { result: [{ id: 3, name: 'a' }] }],
    ['as its owner', 'ownerName { result }', { result: expect.stringMatching(/^(?!graph_app)/) }],
    [
      'numeric',
      'echo(n: "12345678901234567890.5") { result }',
      { result: expect.stringMatching(/^12345678901234567890\.5 /) },
    ],
    ['bytea', 'echo(b: "AAEC") { result }', { result: expect.stringContaining('\\x000102') }],
    [
      'interval',
      'echo(i: { days: 1, seconds: 2.5 }) { result }',
      { result: expect.stringContaining('1 day 00:00:02.5') },
    ],
    ['a domain', 'echo(d: "abc") { result }', { result: expect.stringContaining('abc') }],
    [
      'a range',
      'echo(r: { start: { value: 1, inclusive: true }, end: { value: 3, inclusive: false } }) { result }',
      { result: expect.stringContaining('[1,3)') },
    ],
    ['an enum', 'echo(e: green) { result }', { result: expect.stringContaining('green') }],
    [
      'an instant',
      'echo(t: "2026-01-02T03:04:05Z") { result }',
      { result: expect.stringContaining('2026-01-02 03:04:05') },
    ],
    ['a boolean', 'echo(z: false) { result }', { result: expect.stringMatching(/ f$/) }],
  ])('with %s is called', async (_, selection, expected) => {
    const [data] = Object.values(await run(`mutation { ${selection} }`));

    expect(data).toEqual(expected);
  });

  test.each<[string, string, unknown, string]>([
    ['NUL in an input object', '$v: DoorInput!', { unitId: '', name: 'a\0' }, 'door.name'],
    ['half a surrogate pair', '$v: DoorInput!', { unitId: '', name: '\ud800' }, 'door.name'],
    ['NUL in its list', '$v: DoorInput!', { unitId: '', name: 'a', tags: ['b', 'a\0'] }, 'door.tags[1]'],
    ['an id in it', '$v: DoorInput!', { unitId: 'nonsense', name: 'a' }, 'door.unitId'],
    ['too many items in it', '$v: DoorInput!', { unitId: '', name: 'a', tags: Array(1001).fill('') }, 'door.tags'],
  ])('refuses %s at its field, and names the argument', async (_, definition, value, path) => {
    const given = value as { unitId: string };
    const query = `mutation (${definition}) { doorCreate(door: $v) { door { id } } other: doorsCount { result } }`;

    expect(await refusals(query, { v: { ...given, unitId: given.unitId || depot.id } })).toEqual([
      200,
      [
        expect.stringMatching(new RegExp(`^${path.replaceAll(/[[\].]/g, '\\$&')} `)),
        { code: 'BAD_USER_INPUT', argument: 'door' },
      ],
    ]);
  });

  test('refuses more than 1,000 items, and takes 1,000', async () => {
    const query = 'mutation ($names: [String!]) { doorsCount(names: $names) { result } }';

    expect(await refusals(query, { names: Array(1001).fill('a') })).toEqual([
      200,
      ['names has more than 1000 items.', { code: 'BAD_USER_INPUT', argument: 'names' }],
    ]);
    expect(await refusals(query, { names: Array(1000).fill('a') })).toEqual([200]);
  });

  test('has the payloads that clients rely on, and input types by their comments', async () => {
    const of = async (name: string, fields: string) => {
      const type = 'type { kind name ofType { kind name ofType { kind name ofType { name } } } }';
      const { __type } = await read<{ __type: Record<string, { name: string }[]> }>(
        graph,
        null,
        `{ __type(name: "${name}") { description ${fields} { name description ${type} } } }`,
      );
      return __type;
    };

    expect((await of('DoorsCreatePayload', 'fields')).fields).toMatchObject([
      {
        name: 'doors',
        type: { kind: 'NON_NULL', ofType: { kind: 'LIST', ofType: { kind: 'NON_NULL', ofType: { name: 'Door' } } } },
      },
    ]);
    expect((await of('DoorForgetPayload', 'fields')).fields).toMatchObject([
      { name: 'ok', type: { kind: 'NON_NULL', ofType: { name: 'Boolean' } } },
    ]);
    const { description, inputFields = [] } = await of('DoorInput', 'inputFields');
    expect(description).toBe('A door to be added.');
    expect(inputFields.map(({ name }) => name)).toEqual(['unitId', 'name', 'note', 'tags', 'size', 'colour']);
    expect(inputFields[0]).toMatchObject({
      description: 'The unit that it belongs to.',
      type: { kind: 'NON_NULL', ofType: { name: 'ID' } },
    });
  });
});

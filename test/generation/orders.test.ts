import {
  ask,
  createTenant,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { tableSql } from './tables.ts';
import { type Node, walk } from './walk.ts';

/** Types and five values in ascending order. */
const types: Readonly<Record<string, readonly string[]>> = {
  int2: ['-32768', '-1', '0', '1', '32767'],
  int4: ['-2147483648', '-1', '0', '1', '2147483647'],
  int8: ['-9223372036854775808', '-1', '0', '1', '9223372036854775807'],
  numeric: ['-1e100', '-0.1', '0', '1e-30', 'NaN'],
  float4: ['-Infinity', '0.1', '0.2', '16777216', 'NaN'],
  float8: ['-1e300', '0.1', '0.30000000000000004', '1e300', 'Infinity'],
  boolean: ['false', 'false', 'true', 'true', 'true'],
  text: ['', 'a', 'b', 'ü', '"\\'],
  varchar: ['', ' ', 'a', 'b', 'c'],
  char: ['A', 'B', 'C', 'D', 'E'],
  uuid: [1, 2, 3, 4, 5].map((n) => `00000000-0000-0000-0000-00000000000${n}`),
  date: ['0044-03-15 BC', '1970-01-01', '2024-02-29', '9999-12-31', 'infinity'],
  time: ['00:00', '12:00:00.000001', '12:00:00.000002', '23:59', '24:00'],
  timetz: ['00:00+02', '00:00+00', '12:00:00.000001+00', '12:00:00.000001-05:30', '23:59-12'],
  timestamp: ['-infinity', '1970-01-01', '2024-02-29 12:00:00.000001', '2024-02-29 12:00:00.000002', '9999-12-31'],
  timestamptz: [
    '1970-01-01 00:00+00',
    '2024-02-29 12:00:00.000001+02',
    '2024-02-29 12:00:00.000002+02',
    '2024-03-31 02:30+01',
    'infinity',
  ],
  interval: ['-1 year', '1 microsecond', '29 days', '1 mon 1 day', '100 years'],
  inet: ['10.0.0.1', '10.0.0.2', '10.0.0.255/24', '10.0.1.0', '::1'],
  cidr: ['10.0.0.0/8', '10.0.0.0/16', '10.1.0.0/16', '192.168.0.0/24', '::/0'],
  macaddr: ['00:00:00:00:00:01', '00:00:00:00:00:02', '08:00:2b:01:02:03', 'aa:bb:cc:dd:ee:ff', 'ff:ff:ff:ff:ff:ff'],
  bytea: ['\\x', '\\x00', '\\x0001', '\\x7f', '\\xff'],
  jsonb: ['null', '"a"', '1', 'true', '[1, 2]'],
  int4range: ['empty', '[1,2)', '[1,3)', '[2,3)', '[5,)'],
  tstzrange: ['empty', '(,2020-01-01)', '[2020-01-01,2021-01-01)', '[2020-01-01,2022-01-01)', '[2021-01-01,)'],
  'int4[]': ['{}', '{1}', '{1,2}', '{1,3}', '{2}'],
  'text[]': ['{}', '{""}', '{"a,b"}', '{a,NULL}', '{b}'],
  'app_public.weather': ['sunny', 'rainy', 'a bit of both', 'UPPER', 'last'],
  'app_public.percentage': ['0', '1', '2.5', '50', '100'],
  'app_public.place': ['("",1)', '(a,1)', '(a,2)', '("b ""c""",0)', '(z,)'],
};

const names = Object.keys(types).map((type, index) => ({ type, column: `c${index}` }));

const sql = `
  create type app_public.weather as enum ('sunny', 'rainy', 'a bit of both', 'UPPER', 'last');
  comment on type app_public.weather is E'@enum\\nWeather.';
  create domain app_public.percentage as numeric check (value between 0 and 100);
  create type app_public.place as (name text, floor int);
  ${tableSql({
    name: 'samples',
    columns: `id int not null, ${names.map(({ type, column }) => `${column} ${type} not null, ${column}n ${type}`).join(', ')}`,
    key: ['id'],
    indexes: names.flatMap(({ column }) => [column, `${column}n`]),
  })}
  ${tableSql({ name: 'notes', columns: 'id int, checked text constraint notes_checked_length check (char_length(checked) between 1 and 9), unchecked text', key: ['id'], indexes: ['checked', 'unchecked', "(coalesce(checked, ''))", "(coalesce(unchecked, ''))"] })}`;

/** What a view shows of the samples, and a type that no B-tree orders. */
const view = `
  create view app_public.shown_samples with (security_invoker) as
    select s.*, point (s.id, 1) as place, array[point (s.id, 1)] as places from app_public.samples s;
  comment on view app_public.shown_samples is
    E'@primaryKey organization_id,id\\n@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName shownSamples|@forwardBehavior -*|@backwardBehavior -list +connection\\nSamples.';
  grant select on app_public.shown_samples to graph_app;`;

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    const { owner } = database;
    await owner.query(sql + view);
    for (let id = 1; id <= 10; id++) {
      // Each value twice; of those that may be null, the second is null.
      const values = names.flatMap(({ type }) => {
        const value = types[type]?.[Math.floor((id * 7) % 10) % 5] ?? null;
        return [value, id % 2 === 0 ? null : value];
      });
      const columns = names.flatMap(({ column }) => [column, `${column}n`]);
      await owner.query(
        `insert into app_public.samples (organization_id, id, ${columns.join(', ')})
       values ($1, $2, ${columns.map((_, index) => `$${index + 3}`).join(', ')})`,
        [tenant.organizationId, id, ...values],
      );
    }
    await owner.query(
      `insert into app_public.notes select $1, n, nullif(v, ''), v from unnest(array['b', '', null, 'a', null, '']) with ordinality as r(v, n)`,
      [tenant.organizationId],
    );
  });
});
afterAll(() => graph.stop());

const ordersOf = async (type: string) => {
  const query = `{ __type(name: "${type}") { enumValues { name } } }`;
  const { __type } = await read<{ __type: { enumValues: { name: string }[] } }>(graph, tenant.app, query);
  return __type.enumValues.map(({ name }) => name).sort();
};

const allOrders = names
  .flatMap(({ column }) => [column, `${column}n`])
  .flatMap((column) => [`${column.toUpperCase()}_ASC`, `${column.toUpperCase()}_DESC`])
  .concat('PRIMARY_KEY_ASC', 'PRIMARY_KEY_DESC')
  .sort();

test('each column with an index has both orders', async () => {
  expect(await ordersOf('SampleOrderBy')).toEqual(allOrders);
});

test('each column of a view has both orders if a B-tree could have it, such as one of an enum', async () => {
  expect(await ordersOf('ShownSampleOrderBy')).toEqual(allOrders);

  for (const type of ['app_public.weather', 'int4[]', 'bytea', 'app_public.place', 'boolean']) {
    const column = names.find((each) => each.type === type)?.column ?? '';
    const [ofView, ofTable] = await Promise.all(
      ['shownSamples', 'samples'].map((field) =>
        walk(graph, tenant.app, { field, order: `${column.toUpperCase()}_DESC`, rows: 4 }),
      ),
    );
    expect(ofView?.map(idOf)).toEqual(ofTable?.map(idOf));
  }
});

describe.each(names)('$type', ({ type, column }) => {
  // Both comparisons of each type and both places of its nulls; of two types all that there is, since a walk plans two statements.
  const isWhole = ['int4', 'text'].includes(type);
  const [forwards, backwards] = isWhole
    ? [
        [false, true],
        [false, true],
      ]
    : [[false], [true]];

  test.each([
    ['ASC', column, forwards],
    ['DESC', column, forwards],
    ['ASC', `${column}n`, backwards],
    ['DESC', `${column}n`, backwards],
  ] as [string, string, boolean[]][])('pages to the end: %s of %s', async (direction, name, ways) => {
    const order = `${name.toUpperCase()}_${direction}`;
    const nulls = direction === 'ASC' ? 'nulls first' : 'nulls last';
    const { rows } = await graph.database.owner.query<{ id: number }>(
      `select id from app_public.samples where organization_id = $1 order by ${name} ${direction} ${nulls}, id ${direction}`,
      [tenant.organizationId],
    );
    const expected = rows.map(({ id }) => id);

    for (const isBackwards of ways) {
      const nodes = await walk(graph, tenant.app, { field: 'samples', order, isBackwards, rows: 4 });
      expect(nodes.map(idOf)).toEqual(expected);
    }
  });
});

test.each([
  ['CHECKED_ASC', [null, null, null, null, 'a', 'b']],
  ['CHECKED_DESC', ['b', 'a', null, null, null, null]],
  ['UNCHECKED_ASC', [null, null, '', '', 'a', 'b']],
  ['UNCHECKED_DESC', ['b', 'a', '', '', null, null]],
])('an empty text is a value, null is none: %s', async (order, expected) => {
  const column = order.startsWith('CHECKED') ? 'checked' : 'unchecked';
  for (const isBackwards of [false, true]) {
    const nodes = await walk(graph, tenant.app, { field: 'notes', order, isBackwards, rows: 1 }, column);
    expect(nodes.map((node) => node[column])).toEqual(expected);
  }
});

const idOf = ({ id }: Node) => JSON.parse(/:(.*)$/.exec(Buffer.from(String(id), 'base64url').toString())?.[1] ?? '')[0];

test.each([
  ['lists in lists', '['.repeat(20_000)],
  ['what is no JSON', '{'],
])('a cursor with %s is refused', async (_, text) => {
  const order = `C${names.findIndex(({ type }) => type === 'jsonb')}_ASC`;
  const { app } = await read<{ app: { samples: { pageInfo: { endCursor: string } } } }>(
    graph,
    tenant.app,
    `{ app { samples(first: 1, orderBy: [${order}]) { pageInfo { endCursor } } } }`,
  );
  const [digest, , ...key] = JSON.parse(Buffer.from(app.samples.pageInfo.endCursor, 'base64').toString());
  const at = Buffer.from(JSON.stringify([digest, text, ...key])).toString('base64');
  const query = `query ($at: Cursor) { app { samples(after: $at, orderBy: [${order}]) { totalCount } } }`;

  expectRefused(await ask(graph, tenant.app, query, { at }), 400, { code: 'BAD_USER_INPUT', argument: 'after' });
});

import {
  ask,
  createTenant,
  expectErrors,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { define, sqlBody } from './doors.ts';
import { tableSql } from './tables.ts';

// A value is answered as it is stored, wherever it stands: alone, in arrays, composites, ranges, of functions and nested rows.

type Sample = { readonly type: string; readonly text: string; readonly value: unknown };

const bc = '0044-03-15';

/** Values that PostgreSQL reads, and what a client gets for them. */
const samples: readonly Sample[] = [
  { type: 'date', text: '0044-03-15 BC', value: `${bc} BC` },
  { type: 'date', text: '0001-01-01', value: '0001-01-01' },
  { type: 'date', text: '12345-01-01', value: '12345-01-01' },
  { type: 'date', text: '-infinity', value: '-infinity' },
  { type: 'timestamp', text: '0044-03-15 00:00 BC', value: `${bc}T00:00:00.000000 BC` },
  { type: 'timestamp', text: '12345-01-01 01:02:03.4', value: '12345-01-01T01:02:03.400000' },
  { type: 'timestamp', text: 'infinity', value: 'infinity' },
  { type: 'timestamptz', text: '0044-03-15 00:00Z BC', value: `${bc}T00:00:00.000000+00:00 BC` },
  { type: 'timestamptz', text: '2024-01-01 00:00Z', value: '2024-01-01T00:00:00.000000+00:00' },
  { type: 'timestamptz', text: 'infinity', value: 'infinity' },
  { type: 'time', text: '24:00', value: '24:00:00.000000' },
  { type: 'time', text: '12:00:00.1', value: '12:00:00.100000' },
  { type: 'timetz', text: '24:00+02', value: '24:00:00.000000+02:00' },
  { type: 'timetz', text: '00:00:00.000001-05:30', value: '00:00:00.000001-05:30' },
  { type: 'float4', text: '1.5', value: 1.5 },
  { type: 'float8', text: '-1e300', value: -1e300 },
  { type: 'oid', text: '4294967295', value: 4294967295 },
  { type: 'char(3)', text: 'ab', value: 'ab' },
  { type: 'app_public.day', text: '0044-03-15 BC', value: `${bc} BC` },
  { type: 'app_public.day', text: 'infinity', value: 'infinity' },
];

const column = (index: number) => `c${index}`;
const columns = samples.map(({ type }, index) => `${column(index)} ${type}, ${column(index)}s ${type}[]`).join(', ');
const values = samples.map(({ text, type }) => `'${text}'::${type}, array['${text}', null]::${type}[]`).join(', ');
const selection = samples.map((_, index) => `${column(index)} ${column(index)}s`).join(' ');
const answered = Object.fromEntries(
  samples.flatMap(({ value }, index) => [
    [column(index), value],
    [`${column(index)}s`, [value, null]],
  ]),
);

const intervals: readonly (readonly [text: string, parts: Readonly<Record<string, number>>])[] = [
  ['-1.5 seconds', { seconds: -1.5 }],
  ['-0.5 seconds', { seconds: -0.5 }],
  ['-00:00:00.000001', { seconds: -0.000001 }],
  ['1 year -2 days 25:00:00.5', { years: 1, days: -2, hours: 25, seconds: 0.5 }],
  ['-1 mon -00:01:59.25', { months: -1, minutes: -1, seconds: -59.25 }],
];

const parts = 'years months days hours minutes seconds';
const partsOf = (given: Readonly<Record<string, number>>) => ({
  ...{ years: 0, months: 0, days: 0, hours: 0, minutes: 0, seconds: 0 },
  ...given,
});

const tables = ['kept', 'spans', 'odds', 'weights', 'grids', 'documents', 'periods'];

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    const { owner } = database;
    await owner.query(`
    create domain app_public.day as date;
    create type app_public.every as (${columns});
    create type app_public.float8s as (ratio float8, ratios float8[]);
    ${tableSql({ name: 'kept', columns: `id int, parent_id int, ${columns}, every app_public.every`, key: ['id'], indexes: ['parent_id, id'] })}
    alter table app_public.kept add constraint kept_parent_id_fkey foreign key (organization_id, parent_id) references app_public.kept;
    comment on constraint kept_parent_id_fkey on app_public.kept is E'@fieldName parent\\n@foreignFieldName children';
    ${define('kept_again(k app_public.kept)', `returns app_public.every ${sqlBody('select k.every', 'stable')}`, 'Every.')}
    ${samples.map(({ type }, n) => define(`kept_field${n}(k app_public.kept)`, `returns ${type} ${sqlBody(`select k.${column(n)}`, 'stable')}`, 'One.')).join('\n')}
    ${samples.map(({ type }, n) => define(`echo${n}(value ${type}, list ${type}[])`, `returns ${type}[] ${sqlBody('select value || list')}`, '@mutation\nThe same.')).join('\n')}
    ${tableSql({ name: 'spans', columns: `id int, spans interval[], days daterange, hours tstzrange, hour_list tstzrange[], ${intervals.map((_, n) => `s${n} interval`).join(', ')}`, key: ['id'] })}
    ${tableSql({ name: 'odds', columns: 'id int, ratio float8, small real, ratios float8[], pair app_public.float8s, place point, wait interval, needed float8 not null', key: ['id'] })}
    ${tableSql({ name: 'weights', columns: 'ratio float8', key: ['ratio'] })}
    ${tableSql({ name: 'grids', columns: 'id int, ints int[], texts text[], days date[], bools bool[], datas jsonb[], boxes box[], pairs app_public.pair[]', key: ['id'] }).replace('create table', 'create type app_public.pair as (word text, amount int); create table')}
    create domain app_public.settings as jsonb check (value is not null);
    ${tableSql({ name: 'documents', columns: 'id int not null, data jsonb not null, text json not null, settings app_public.settings not null', key: ['id'] })}
    ${tableSql({ name: 'periods', columns: 'id int not null, ints int4range, days daterange, list daterange[]', key: ['id'] })}
    ${tables.map((table) => define(`${table}_whole(item app_public.${table})`, `returns text ${sqlBody('select item::text', 'stable')}`, 'The row.')).join('\n')}
    ${tables.map((table) => define(`list_${table}()`, `returns setof app_public.${table} ${sqlBody(`select * from app_public.${table}`)}`, '@mutation\nAll.')).join('\n')}`);
    const insert = (statement: string) => owner.query(statement, [tenant.organizationId]);
    await insert(
      `insert into app_public.kept select $1, id, nullif(id - 1, 0), ${values}, row (${values})::app_public.every from generate_series(1, 2) id`,
    );
    await insert(
      `insert into app_public.spans values ($1, 1, array[${intervals.map(([text]) => `'${text}'`).join(', ')}]::interval[],
       '[-infinity,infinity]', '["0044-03-15 00:00Z BC",infinity]', array['[2024-01-01 00:00Z,]', null]::tstzrange[],
       ${intervals.map(([text]) => `'${text}'`).join(', ')})`,
    );
    await insert('insert into app_public.spans values ($1, 2)');
    await insert(
      `insert into app_public.odds values ($1, 1, 'NaN', 'Infinity', '{1,-Infinity,2}', row ('NaN', '{NaN}'), '(1,NaN)', '2562047788 hours', 1),
       ($1, 2, 1, 1, '{}', null, null, 'infinity', '-Infinity')`,
    );
    await insert(`insert into app_public.weights values ($1, 'NaN'), ($1, 1.5)`);
    await insert(
      `insert into app_public.grids values ($1, 1, '{{1,2},{3,NULL}}', '[2:2][0:1][1:1]={{{"a,b"},{"{{"}}}', '{{2024-01-01},{infinity}}',
       '{{t},{f}}', array[['[1, [2]]', '{"a": 9007199254740993}']]::jsonb[], '{{(1,1),(0,0);(3,3),(2,2)}}', '{{"(a,1)"},{"(b,2)"}}'),
       ($1, 2, '[3:4]={5,6}', '{"{{"}', '{}', '{t}', array['[[1]]']::jsonb[], null, '{}')`,
    );
    await insert(
      `insert into app_public.documents values ($1, 1, 'null', 'null', 'null'), ($1, 2, '[null]', '{"a": null}', '1')`,
    );
    await insert(
      `insert into app_public.periods values ($1, 1, 'empty', 'empty', '{empty}'), ($1, 2, '(,)', '(,)', '{"(,)"}')`,
    );
  });
});
afterAll(() => graph.stop());

/** By Grafast at first, and then compiled. */
const readTwice = async <Data = unknown>(query: string) => {
  const first = await read<Data>(graph, tenant.app, query);
  expect(await read(graph, tenant.app, query)).toEqual(first);
  return first;
};

test('a column, an array, a composite, a computed field and a nested row have the same value', async () => {
  const fields = samples.map((_, n) => `field${n}`).join(' ');
  const kept = { ...answered, every: answered };
  const computed = Object.fromEntries(samples.map(({ value }, n) => [`field${n}`, value]));

  expect(
    await readTwice(`{ app { kept(first: 1) { nodes { ${selection} every { ${selection} } again { ${selection} } ${fields}
      children { nodes { ${selection} every { ${selection} } parent { ${selection} } } } } } } }`),
  ).toEqual({
    app: {
      kept: {
        nodes: [{ ...kept, again: answered, ...computed, children: { nodes: [{ ...kept, parent: answered }] } }],
      },
    },
  });
});

test.each(samples.map((sample, index) => [sample.type, sample.value, index] as const))(
  'an argument of the type %s takes the answer %j again',
  async (_, value, index) => {
    const { __type } = await read<{ __type: { fields: { name: string; args: { name: string; type: Named }[] }[] } }>(
      graph,
      tenant.app,
      '{ __type(name: "Mutation") { fields { name args { name type { name ofType { name } } } } } }',
    );
    const type = __type.fields.find(({ name }) => name === `echo${index}`)?.args[0]?.type.ofType?.name;
    const mutation = `mutation ($v: ${type}!, $list: [${type}!]!) { echo${index}(value: $v, list: $list) { result } }`;

    const answer = await read<object>(graph, tenant.app, mutation, { v: value, list: [value] });
    expect(answer).toEqual({ [`echo${index}`]: { result: [value, value] } });
  },
);

type Named = { name: string | null; ofType: { name: string } | null };

test('an interval keeps the sign of its fraction, in an array, too', async () => {
  const all = intervals.map((_, n) => `s${n} { ${parts} }`).join(' ');
  const expected = intervals.map(([, given]) => partsOf(given));

  expect(await readTwice(`{ app { spans(first: 1) { nodes { spans { ${parts} } ${all} } } } }`)).toEqual({
    app: {
      spans: { nodes: [{ spans: expected, ...Object.fromEntries(expected.map((given, n) => [`s${n}`, given])) }] },
    },
  });
});

test('a range has bounds without end and before Christ, and a range that is null is null', async () => {
  const bounds = '{ start { value inclusive } end { value inclusive } }';
  const bound = (value: string) => ({ value, inclusive: true });

  expect(await readTwice(`{ app { spans { nodes { days ${bounds} hours ${bounds} hourList ${bounds} } } } }`)).toEqual({
    app: {
      spans: {
        nodes: [
          {
            days: { start: bound('-infinity'), end: bound('infinity') },
            hours: { start: bound(`${bc}T00:00:00.000000+00:00 BC`), end: bound('infinity') },
            hourList: [{ start: bound('2024-01-01T00:00:00.000000+00:00'), end: null }, null],
          },
          { days: null, hours: null, hourList: null },
        ],
      },
    },
  });
});

test('what is no number in GraphQL is an error at its place, and leaves the rest', async () => {
  const query = `{ app { odds { nodes { id ratio small ratios pair { ratio ratios } place { x y } wait { hours days } } } } }`;
  const at = (...path: (string | number)[]) => ({ code: 'UNREPRESENTABLE', path: ['app', 'odds', 'nodes', ...path] });

  for (let time = 0; time < 2; time++) {
    const answer = await ask(graph, tenant.app, query);
    const errors = answer.body.errors?.map(({ extensions, path }) => ({ ...extensions, path }));
    expect(errors).toEqual(
      expect.arrayContaining([
        at(0, 'ratio'),
        at(0, 'small'),
        at(0, 'ratios', 1),
        at(0, 'pair', 'ratio'),
        at(0, 'pair', 'ratios', 0),
        at(0, 'place', 'y'),
        at(0, 'wait', 'hours'),
        at(1, 'wait', 'hours'),
        at(1, 'wait', 'days'),
      ]),
    );
    expect(errors).toHaveLength(9);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({
      app: {
        odds: {
          nodes: [
            {
              id: expect.any(String),
              ratio: null,
              small: null,
              ratios: [1, null, 2],
              pair: { ratio: null, ratios: [null] },
              place: null,
              wait: { hours: null, days: 0 },
            },
            {
              id: expect.any(String),
              ratio: 1,
              small: 1,
              ratios: [],
              pair: null,
              place: null,
              wait: { hours: null, days: null },
            },
          ],
        },
      },
    });
  }
});

test('where a number is needed, its object is null, as GraphQL has it', async () => {
  const answer = await ask(graph, tenant.app, '{ app { odds { nodes { needed } } } }');

  const path = ['app', 'odds', 'nodes', 1, 'needed'];
  expectErrors(answer, { app: null }, { code: 'UNREPRESENTABLE', path });
});

test('a row whose key is no number in GraphQL has an id, which finds it', async () => {
  const { app } = await read<{ app: { weights: { nodes: { id: string }[] } } }>(
    graph,
    tenant.app,
    '{ app { weights { nodes { id } } } }',
  );
  for (const { id } of app.weights.nodes)
    expect(await read(graph, tenant.app, 'query ($id: ID!) { node(id: $id) { id } }', { id })).toEqual({
      node: { id },
    });
  expect(app.weights.nodes).toHaveLength(2);
});

test('an array of several dimensions is the list of its items', async () => {
  const corner = 'a { x y } b { x y }';
  const query = `{ app { grids { nodes { ints texts days bools datas boxes { ${corner} } pairs { word amount } } } } }`;
  const at = (n: number) => ({ x: n, y: n });

  expect(await readTwice(query)).toEqual({
    app: {
      grids: {
        nodes: [
          {
            ints: [1, 2, 3, null],
            texts: ['a,b', '{{'],
            days: ['2024-01-01', 'infinity'],
            bools: [true, false],
            datas: [[1, [2]], { a: expect.any(Number) }],
            boxes: [
              { a: at(1), b: at(0) },
              { a: at(3), b: at(2) },
            ],
            pairs: [
              { word: 'a', amount: 1 },
              { word: 'b', amount: 2 },
            ],
          },
          { ints: [5, 6], texts: ['{{'], days: [], bools: [true], datas: [[[1]]], boxes: null, pairs: [] },
        ],
      },
    },
  });
});

test('null as a value of JSON is null, in a column that has a value in each row, too', async () => {
  expect(await readTwice('{ app { documents { nodes { data text settings } } } }')).toEqual({
    app: {
      documents: {
        nodes: [
          { data: null, text: null, settings: null },
          { data: [null], text: { a: null }, settings: 1 },
        ],
      },
    },
  });
});

test('an empty range is an error of its field, since no bounds can say that', async () => {
  const bounds = '{ start { value } end { value } }';
  const all = { start: null, end: null };

  for (let time = 0; time < 2; time++)
    expectErrors(
      await ask(graph, tenant.app, `{ app { periods { nodes { ints ${bounds} days ${bounds} list ${bounds} } } } }`),
      {
        app: {
          periods: {
            nodes: [
              { ints: null, days: null, list: null },
              { ints: all, days: all, list: [all] },
            ],
          },
        },
      },
      ...['ints', 'days', 'list'].map((field) => ({
        path: ['app', 'periods', 'nodes', 0, field],
        code: 'UNREPRESENTABLE',
      })),
    );
});

test('a computed field of a row that a mutation returns gets the row as it is stored', async () => {
  for (const table of tables) {
    const stored = await graph.database.owner.query<Whole>(`select t::text as whole from app_public.${table} t`);
    const mutation = `mutation { listed: ${camelCase(`list_${table}`)} { rows: ${payloadField(table)} { whole } } }`;
    const { listed } = await readTwice<{ listed: { rows: Whole[] } }>(mutation);

    const texts = (rows: readonly Whole[]) => rows.map(({ whole }) => whole).toSorted();
    expect(texts(listed.rows)).toEqual(texts(stored.rows));
    expect(stored.rows).not.toHaveLength(0);
  }
});

type Whole = { readonly whole: string };

const payloadField = (table: string) => (table === 'kept' ? 'kepts' : table);
const camelCase = (name: string) => name.replaceAll(/_./g, ([, letter = '']) => letter.toUpperCase());

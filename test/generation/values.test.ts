import {
  ask,
  createTenant,
  expectErrors,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { answered, bc, createValueTables, intervals, samples, selection, tables } from './valueTables.ts';

// A value is answered as it is stored, wherever it stands: alone, in arrays, composites, ranges, of functions and nested rows.

const parts = 'years months days hours minutes seconds';
const partsOf = (given: Readonly<Record<string, number>>) => ({
  ...{ years: 0, months: 0, days: 0, hours: 0, minutes: 0, seconds: 0 },
  ...given,
});

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await createValueTables(tenant, database.owner);
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

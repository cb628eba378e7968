import { rawNumber } from '../graphql/rawNumber.ts';
import {
  ask,
  createTenant,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { define, sqlBody } from './doors.ts';
import { tableSql } from './tables.ts';

// Numbers of every type are stored as they were sent, or refused.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query(`
    create domain app_public.count as bigint check (value > -10);
    create type app_public.reading as (big bigint, exact numeric, count app_public.count, bigs bigint[], data jsonb, at timestamptz);
    ${tableSql({ name: 'meters', columns: 'big bigint not null, exact numeric, ratio float8, data jsonb', key: ['big'] })}
    comment on column app_public.meters.big is E'@filter bigs\\n@filter bigFrom from\\nBig.';
    comment on column app_public.meters.exact is E'@filter exacts\\n@filter exactUntil until\\nExact.';
    insert into app_public.meters select id, n, n from app_hidden.organizations, unnest('{9007199254740992, 9007199254740993}'::bigint[]) as n
      where id = '${tenant.organizationId}';
    create table public.stored (place int generated always as identity, value text);
    grant insert on public.stored to graph_app;
    ${typesTaken.map(([name, type]) => define(`store_${name}(value ${type})`, `returns boolean ${sqlBody('insert into public.stored (value) values (value::text) returning true')}`, '@mutation\nStores it.')).join('\n')}`);
  });
});
afterAll(() => graph.stop());

/** A name, and a type of PostgreSQL. */
const typesTaken = [
  ['big', 'bigint'],
  ['bigs', 'bigint[]'],
  ['exact', 'numeric'],
  ['exacts', 'numeric[]'],
  ['count', 'app_public.count'],
  ['ratio', 'float8'],
  ['data', 'jsonb'],
  ['datas', 'jsonb[]'],
  ['text', 'text'],
  ['at', 'timestamptz'],
  ['day', 'date'],
  ['time', 'time'],
  ['key', 'uuid'],
  ['bits', 'varbit'],
  ['address', 'inet'],
  ['wait', 'interval'],
  ['span', 'int8range'],
  ['place', 'point'],
  ['reading', 'app_public.reading'],
  ['readings', 'app_public.reading[]'],
] as const;

/** The GraphQL type of each column. */
const graphqlTypes: Readonly<Record<string, string>> = {
  big: 'BigInt!',
  bigs: '[BigInt!]!',
  exact: 'BigFloat!',
  exacts: '[BigFloat!]!',
  count: 'Count!',
  ratio: 'Float!',
  data: 'JSON!',
  datas: '[JSON!]!',
  text: 'String!',
  at: 'Datetime!',
  day: 'Date!',
  time: 'Time!',
  key: 'UUID!',
  bits: 'BitString!',
  address: 'InternetAddress!',
  wait: 'IntervalInput!',
  span: 'BigIntRangeInput!',
  place: 'PointInput!',
  reading: 'ReadingInput!',
  readings: '[ReadingInput!]!',
};

const fieldOf = (name: string) => `store${name[0]?.toUpperCase()}${name.slice(1)}`;
const documentOf = (name: string) =>
  `mutation ($value: ${graphqlTypes[name]}) { ${fieldOf(name)}(value: $value) { result } }`;

const stored = async () => {
  const { rows } = await graph.database.owner.query('delete from public.stored returning value');
  return rows.map(({ value }) => value);
};

const inexact = [
  '9007199254740993',
  '-9007199254740993',
  '1e400',
  '1.00000000000000000001',
  '12345678901234567890',
  '1e-400',
];

/** Where a number may stand in each. */
const places: [name: string, where: (value: unknown) => unknown, path: string][] = [
  ['big', (n) => n, '$value'],
  ['bigs', (n) => ['1', n], '$value[1]'],
  ['bigs', (n) => n, '$value'],
  ['exact', (n) => n, '$value'],
  ['exacts', (n) => [n], '$value[0]'],
  ['count', (n) => n, '$value'],
  ['ratio', (n) => n, '$value'],
  ['data', (n) => n, '$value'],
  ['data', (n) => ({ a: [{ b: n }] }), '$value.a[0].b'],
  ['datas', (n) => [1, { b: n }], '$value[1].b'],
  ['text', (n) => n, '$value'],
  ['at', (n) => n, '$value'],
  ['wait', (seconds) => ({ seconds }), '$value.seconds'],
  ['span', (value) => ({ start: { value, inclusive: true } }), '$value.start.value'],
  ['place', (x) => ({ x, y: 1 }), '$value.x'],
  ['reading', (big) => ({ big }), '$value.big'],
  ['reading', (n) => ({ data: { a: n } }), '$value.data.a'],
  ['reading', (n) => ({ bigs: ['1', n] }), '$value.bigs[1]'],
  ['readings', (exact) => [{ big: '1' }, { exact }], '$value[1].exact'],
];

test.each(places.flatMap(([name, where, path]) => inexact.map((source) => ({ name, path, source, where }))))(
  'the number $source is refused at $path of a $name',
  async ({ name, path, source, where }) => {
    const answer = await ask(graph, tenant.app, documentOf(name), { value: where(rawNumber(source)) });

    expectRefused(answer, 400, { code: 'BAD_USER_INPUT', argument: 'value', variable: 'value' });
    expect(answer.body.errors?.[0]?.message).toBe(
      `Variable "$value" has the number ${source} at "${path}", which cannot be kept exactly: send it as a string, or round it.`,
    );
    expect(await stored()).toEqual([]);
  },
);

test.each<[name: string, value: unknown, kept: string]>([
  ['big', '9007199254740993', '9007199254740993'],
  ['big', rawNumber('9007199254740992'), '9007199254740992'],
  ['big', rawNumber('-9007199254740991'), '-9007199254740991'],
  ['big', rawNumber('1e3'), '1000'],
  ['big', rawNumber('-0'), '0'],
  ['bigs', ['9007199254740993', 5], '{9007199254740993,5}'],
  ['bigs', 5, '{5}'],
  ['exact', '1e400', `1${'0'.repeat(400)}`],
  ['exact', '1.00000000000000000001', '1.00000000000000000001'],
  ['exact', rawNumber('0.30000000000000004'), '0.30000000000000004'],
  ['exact', rawNumber('1.10'), '1.1'],
  ['exact', rawNumber('1.5E-3'), '0.0015'],
  ['exact', rawNumber('100000000000000000000'), '100000000000000000000'],
  ['exact', rawNumber('1e21'), '1000000000000000000000'],
  ['exact', 'NaN', 'NaN'],
  ['exacts', ['9007199254740993', 0.1], '{9007199254740993,0.1}'],
  ['count', '9007199254740993', '9007199254740993'],
  ['count', 7, '7'],
  ['ratio', rawNumber('1e300'), '1e+300'],
  ['ratio', 0.1, '0.1'],
  ['data', { a: [{ b: '9007199254740993' }] }, '{"a": [{"b": "9007199254740993"}]}'],
  ['data', rawNumber('9007199254740992'), '9007199254740992'],
  ['data', 'see: 9007199254740993, [1e400', '"see: 9007199254740993, [1e400"'],
  ['data', { 'a": 1e400 \\': '\\", 1e400' }, '{"a\\": 1e400 \\\\": "\\\\\\", 1e400"}'],
  ['text', '9007199254740993', '9007199254740993'],
  ['at', '2026-01-02T03:04:05.123456Z', '2026-01-02 03:04:05.123456+00'],
  ['span', { start: { value: '9007199254740993', inclusive: true } }, '[9007199254740993,)'],
  ['reading', { big: '9007199254740993', data: [1e21] }, '(9007199254740993,,,,[1000000000000000000000],)'],
])('%s: the value %j is stored', async (name, value, kept) => {
  await read(graph, tenant.app, documentOf(name), { value });

  expect(await stored()).toEqual([kept]);
});

test.each<[name: string, literal: string, kept: string]>([
  ['big', '9007199254740993', '9007199254740993'],
  ['big', '-9007199254740993', '-9007199254740993'],
  ['big', '"9007199254740993"', '9007199254740993'],
  ['bigs', '[9007199254740993, 1]', '{9007199254740993,1}'],
  ['exact', '1.00000000000000000001', '1.00000000000000000001'],
  ['exact', '1e400', `1${'0'.repeat(400)}`],
  ['exact', '9007199254740993', '9007199254740993'],
  ['count', '9007199254740993', '9007199254740993'],
  ['data', '{ a: [1.5, 9007199254740992, "1e400"] }', '{"a": [1.5, 9007199254740992, "1e400"]}'],
  ['span', '{ end: { value: 9007199254740993, inclusive: false } }', '(,9007199254740993)'],
  ['reading', '{ big: 9007199254740993, exact: 0.10000000000000001 }', '(9007199254740993,0.10000000000000001,,,,)'],
])('%s: the literal %s is stored, as the default of a variable, too', async (name, literal, kept) => {
  await read(graph, tenant.app, `mutation { ${fieldOf(name)}(value: ${literal}) { result } }`);
  const type = graphqlTypes[name]?.replace(/!$/, '');
  await read(graph, tenant.app, `mutation ($v: ${type} = ${literal}) { ${fieldOf(name)}(value: $v) { result } }`);

  expect(await stored()).toEqual([kept, kept]);
});

test.each<[name: string, literal: string]>([
  ['ratio', '1.00000000000000000001'],
  ['ratio', '1e400'],
  ['data', '9007199254740993'],
  ['data', '{ a: [1, { b: 1e400 }] }'],
  ['datas', '[1, [0.10000000000000001]]'],
  ['reading', '{ data: { a: 9007199254740993 } }'],
  ['text', '9007199254740993'],
  ['at', '20260102030405060708'],
  ['place', '{ x: 9007199254740993, y: 0 }'],
])('%s: the literal %s is refused, as the default of a variable, too', async (name, literal) => {
  const document = `mutation { ${fieldOf(name)}(value: ${literal}) { result } }`;
  const withDefault = `mutation ($v: ${graphqlTypes[name]} = ${literal}) { ${fieldOf(name)}(value: $v) { result } }`;
  const answers = [await ask(graph, tenant.app, document), await ask(graph, tenant.app, withDefault)] as const;

  const refusal = { code: 'BAD_USER_INPUT', argument: 'value' };
  expectRefused(answers[0], 400, refusal);
  expectRefused(answers[1], 400, { ...refusal, variable: 'v' });
  for (const { body } of answers)
    expect(body.errors?.[0]?.message).toMatch(/^The document has the number .*: send it as a string, or round it\.$/);
  expect(await stored()).toEqual([]);
});

test.each(['big', 'exact', 'count', 'text', 'at', 'day', 'time', 'key', 'bits', 'address'])(
  'a list, an object or a boolean is no %s',
  async (name) => {
    for (const value of [[5], ['5'], [], {}, { a: 1 }, true]) {
      const answer = await ask(graph, tenant.app, documentOf(name), { value });
      expectRefused(answer, 400, { code: 'BAD_USER_INPUT', argument: 'value', variable: 'value' });
    }
    expect(await stored()).toEqual([]);
  },
);

test.each(['text', 'at', 'day', 'time', 'key', 'bits', 'address'])('a number is no %s', async (name) => {
  const answer = await ask(graph, tenant.app, documentOf(name), { value: 20260102 });

  expectRefused(answer, 400, { code: 'BAD_USER_INPUT', argument: 'value', variable: 'value' });
  expect(await stored()).toEqual([]);
});

test.each([
  ['bigs: [$n]', 'BigInt!'],
  ['bigFrom: $n', 'BigInt'],
  ['exacts: [$n]', 'BigFloat!'],
  ['exactUntil: $n', 'BigFloat'],
])('a filter finds the row of the very number: meters(%s)', async (filter, type) => {
  const document = `query ($n: ${type}) { app { meters(${filter}) { nodes { big } } } }`;
  const found = filter.startsWith('exactUntil') ? '9007199254740992' : '9007199254740993';

  expect(await read(graph, tenant.app, document, { n: '9007199254740993' })).toEqual({
    app: { meters: { nodes: [{ big: found }] } },
  });
  expect(
    await read(graph, tenant.app, document.replace(/^query \S+ \S+/, '').replace('$n', '9007199254740993')),
  ).toEqual({
    app: { meters: { nodes: [{ big: found }] } },
  });
  expectRefused(await ask(graph, tenant.app, document, { n: rawNumber('9007199254740993') }), 400, {
    code: 'BAD_USER_INPUT',
    argument: filter.split(':')[0] as string,
    variable: 'n',
  });
});

test('numbers in JSON that a double cannot keep are answered as they are stored, once it is compiled, too', async () => {
  const data = '{"a": 9007199254740993, "b": [1.50, 1.00000000000000000001, "9007199254740993"], "c": 1e400}';
  await graph.database.owner.query('insert into app_public.meters (organization_id, big, data) values ($1, -1, $2)', [
    tenant.organizationId,
    data,
  ]);
  const query = '{ app { meters(bigs: ["-1"]) { nodes { data } } } }';
  const stored = `{"a":9007199254740993,"b":[1.5,1.00000000000000000001,"9007199254740993"],"c":1${'0'.repeat(400)}}`;

  for (let time = 0; time < 2; time++) {
    const response = await fetch(`${graph.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(await response.text()).toBe(`{"data":{"app":{"meters":{"nodes":[{"data":${stored}}]}}}}`);
  }
});

import { buildSchema, type GraphQLSchema, parseValue, valueFromASTUntyped } from 'graphql';
import {
  ask,
  createTenant,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { define, literal, sqlBody } from './doors.ts';
import { tableSql } from './tables.ts';

// Domains are given like the types beneath them, and a type that GraphQL has no form for is a text.

/** Domains, what they are over, and literals with what PostgreSQL stores. */
const domains: readonly [name: string, over: string, literal: string, stored: string][] = [
  ['shelf', 'integer check (value > 0)', '5', '5'],
  ['top_shelf', 'app_public.shelf', '2147483647', '2147483647'],
  ['step', 'smallint', '-32768', '-32768'],
  ['share', 'real', '0.5', '0.5'],
  ['weight', 'double precision', '-1e300', '-1e+300'],
  ['serial', 'bigint', '9007199254740993', '9007199254740993'],
  ['price', 'numeric(12,2)', '12345.67', '12345.67'],
  ['flag', 'boolean', 'true', 'true'],
  ['off_flag', 'app_public.flag', 'false', 'false'],
  ['settings', "jsonb check (jsonb_typeof(value) <> 'string')", '{ a: [1, { b: null }] }', '{"a": [1, {"b": null}]}'],
  ['list', 'json', '[1, "a", true]', '[1,"a",true]'],
  ['row_id', 'oid', '4294967295', '4294967295'],
  ['amount', 'money', '92233720368547758.07', '$92,233,720,368,547,758.07'],
  ['tags', 'integer[]', '[1, 2]', '{1,2}'],
  ['span', 'int4range', '{ start: { value: 1, inclusive: true }, end: { value: 3, inclusive: false } }', '[1,3)'],
  ['hours', 'interval', '{ hours: 2 }', '02:00:00'],
];

/** Types that GraphQL has no form for. */
const texts: readonly [name: string, type: string, text: string][] = [
  ['slots', 'tstzmultirange', '{["2026-01-01 00:00:00+00","2026-02-01 00:00:00+00")}'],
  ['numbers', 'int4multirange', '{[1,3),[5,8)}'],
  ['position', 'pg_lsn', '16/B374D848'],
  ['code', 'public.isbn', '0-306-40615-2'],
  ['body', 'public.cube', '(0, 0),(1, 1)'],
  ['part', 'public.seg', '1 .. 2'],
  ['words', 'tsvector', "'cat':3 'dog':1,5"],
  ['writer', 'xid8', '18446744073709551615'],
  ['own_slots', 'app_public.own_multirange', '{[a,c)}'],
];

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    const taken = [...domains.map(([name]) => [name, `app_public.${name}`]), ...texts] as const;
    await database.owner.query(`
      create extension cube schema public; create extension seg schema public; create extension isn schema public;
      grant execute on all functions in schema public to graph_app;
      create type app_public.own_range as range (subtype = text, collation = "C");
      ${domains.map(([name, over]) => `create domain app_public.${name} as ${over};`).join('\n')}
      ${tableSql({ name: 'lockers', columns: `id int, ${taken.map(([name, type]) => `${name} ${type}`).join(', ')}`, key: ['id'], indexes: ['shelf', 'position'] })}
      comment on column app_public.lockers.shelf is E'@filter shelves\\n@filter shelfFrom from\\n@filter shelfUntil until\\nShelf.';
      comment on column app_public.lockers.flag is E'@filter flagged is\\nFlag.';
      comment on column app_public.lockers.price is E'@filter prices\\nPrice.';
      comment on column app_public.lockers.slots is E'@filter slots\\nSlots.';
      comment on column app_public.lockers.body is E'@filter bodies\\nBody.';
      insert into app_public.lockers (organization_id, id, shelf, flag, price, ${texts.map(([name]) => name).join(', ')})
        select '${tenant.organizationId}', n, n, n = 5, 1.5, ${texts.map(([, type, text]) => `${literal(text)}::${type}`).join(', ')} from unnest('{3, 5, 7}'::int[]) n;
      ${taken
        .map(
          ([name, type]) => `
      create type app_public.given_${name}_input as (value ${type});
      ${define(`${name}_add(a_value ${type})`, `returns text ${sqlBody('select a_value::text')}`, '@mutation\nThe text.')}
      ${name === 'tags' ? '' : define(`${name}_list(a_list ${type}[])`, `returns text ${sqlBody('select a_list[1]::text')}`, '@mutation\nThe text.')}
      ${define(`${name}_set(an_input app_public.given_${name}_input)`, `returns text ${sqlBody('select (an_input).value::text')}`, '@mutation\nThe text.')}`,
        )
        .join('\n')}`);
  });
});
afterAll(() => graph.stop());

const camelCase = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const readSchema = async (): Promise<GraphQLSchema> =>
  buildSchema(await (await fetch(`${graph.url}/graphql/schema.graphql`)).text());

/** A mutation gets the value as a literal and in a variable; PostgreSQL says what it got. */
async function textsOf(name: string, literal: string): Promise<unknown[]> {
  const schema = await readSchema();
  const calls: [field: string, literal: string][] = [
    ['add', literal],
    ...(name === 'tags' ? [] : [['list', `[${literal}]`] satisfies [string, string]]),
    ['set', `{ value: ${literal} }`],
  ];
  const results: unknown[] = [];
  for (const [place, given] of calls) {
    const field = camelCase(`${name}_${place}`);
    const argument = schema.getMutationType()?.getFields()[field]?.args[0];
    const inline = await read<Called>(
      graph,
      tenant.app,
      `mutation { called: ${field}(${argument?.name}: ${given}) { result } }`,
    );
    const document = `mutation ($v: ${argument?.type}) { called: ${field}(${argument?.name}: $v) { result } }`;
    // A number with more digits than a double keeps is sent as a text.
    const value = valueFromASTUntyped(parseValue(given.replace(/(?<!["\d.])-?\d{16,}(?:\.\d+)?/, '"$&"')));
    const varied = await read<Called>(graph, tenant.app, document, { v: value });
    results.push(inline.called.result, varied.called.result);
  }
  return results;
}

type Called = { readonly called: { readonly result: unknown } };

test.each(domains)(
  'a domain %s over %s takes %s, wherever it stands, and stores %s',
  async (name, _, literal, stored) => {
    expect(new Set(await textsOf(name, literal))).toEqual(new Set([stored]));
  },
);

test.each<[name: string, value: unknown, code: string]>([
  ['shelf', '5', 'BAD_USER_INPUT'],
  ['shelf', 1.5, 'BAD_USER_INPUT'],
  ['shelf', 0, 'BAD_USER_INPUT'],
  ['shelf', 2147483648, 'BAD_USER_INPUT'],
  ['step', 32768, 'BAD_USER_INPUT'],
  ['flag', 'true', 'BAD_USER_INPUT'],
  ['weight', '1', 'BAD_USER_INPUT'],
  ['settings', 'a', 'BAD_USER_INPUT'],
  ['serial', [5], 'BAD_USER_INPUT'],
  ['position', 5, 'BAD_USER_INPUT'],
  ['position', 'nowhere', 'BAD_USER_INPUT'],
  ['numbers', '{[3,1)}', 'BAD_USER_INPUT'],
])('%s refuses %j', async (name, value, code) => {
  const field = camelCase(`${name}_add`);
  const type = (await readSchema()).getMutationType()?.getFields()[field]?.args[0]?.type;
  const answer = await ask(graph, tenant.app, `mutation ($v: ${type}) { ${field}(aValue: $v) { result } }`, {
    v: value,
  });

  expect(answer.body.errors?.map(({ extensions }) => extensions.code)).toEqual([code]);
});

test('a literal that is no Int is left to validation, for a domain, too', async () => {
  for (const [literal, code] of [
    ['9007199254740993', 'GRAPHQL_VALIDATION_FAILED'],
    ['"5"', 'GRAPHQL_VALIDATION_FAILED'],
  ] as const)
    expectRefused(await ask(graph, tenant.app, `mutation { shelfAdd(aValue: ${literal}) { result } }`), 400, { code });
  expectRefused(
    await ask(graph, tenant.app, 'mutation { settingsAdd(aValue: { a: 9007199254740993 }) { result } }'),
    400,
    {
      code: 'BAD_USER_INPUT',
      argument: 'aValue',
    },
  );
});

test.each<[filter: string, type: string, value: unknown, shelves: number[]]>([
  ['shelves', '[Shelf!]', [5, 7], [5, 7]],
  ['shelves', '[Shelf!]', [-5, 7], [7]],
  ['shelfFrom', 'Shelf', 5, [5, 7]],
  ['shelfUntil', 'Shelf', 5, [3]],
  ['shelfUntil', 'Shelf', 0, []],
  ['flagged', 'Flag', true, [5]],
  ['flagged', 'Flag', false, [3, 7]],
  ['prices', '[Price!]', ['1.50'], [3, 5, 7]],
  ['prices', '[Price!]', ['1.501'], []],
  ['slots', '[Tstzmultirange!]', ['{["2026-01-01 01:00+01","2026-02-01 00:00Z")}'], [3, 5, 7]],
  ['slots', '[Tstzmultirange!]', ['{}'], []],
  ['bodies', '[PublicCube!]', ['(0,0),(1,1)'], [3, 5, 7]],
])('the filter %s: %s finds by %j the rows that PostgreSQL finds', async (filter, type, value, shelves) => {
  const document = (given: string) =>
    `{ app { lockers(${filter}: ${given}, orderBy: [SHELF_ASC]) { nodes { shelf } } } }`;
  const found = { app: { lockers: { nodes: shelves.map((shelf) => ({ shelf })) } } };

  expect(await read(graph, tenant.app, document(JSON.stringify(value)))).toEqual(found);
  expect(await read(graph, tenant.app, `query ($v: ${type}) ${document('$v')}`, { v: value })).toEqual(found);
});

test.each(texts)('%s, a %s, is answered as PostgreSQL writes it, and taken so', async (name, _, text) => {
  const field = camelCase(name);
  const { app } = await read<{ app: { lockers: { nodes: unknown[] } } }>(
    graph,
    tenant.app,
    `{ app { lockers(first: 1) { nodes { ${field} } } } }`,
  );

  expect(app.lockers.nodes).toEqual([{ [field]: text }]);
  expect(new Set(await textsOf(name, JSON.stringify(text)))).toEqual(new Set([text]));
});

test('the build prints nothing, whatever types there are', async () => {
  const printed: unknown[] = [];
  const { warn, error, log } = console;
  const print = (...values: unknown[]) => void printed.push(values[0]);
  Object.assign(console, { warn: print, error: print, log: print });
  await graph.database.owner.query(
    `create function app_public.any_label(value anyelement) returns text language sql stable as 'select 1::text';
     create function app_public.any_records() returns setof record language sql stable as 'select 1, 2'`,
  );
  try {
    await graph.reload();
  } finally {
    Object.assign(console, { warn, error, log });
    await graph.database.owner.query('drop function app_public.any_label, app_public.any_records');
  }

  expect(printed).toEqual([]);
});

import { getIntrospectionQuery } from 'postgraphile/graphql';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  expectRefused,
  type GraphTest,
  type OwnGraphTest,
  read,
  startGraphTest,
} from './support.ts';

const introspections: [what: string, query: string][] = [
  ['by the query of GraphQL.js', getIntrospectionQuery()],
  ['of the schema', '{ __schema { queryType { name } } }'],
  ['of a type', '{ __type(name: "User") { name } }'],
  ['beside __typename', '{ __typename __schema { queryType { name } } }'],
  [
    'through fragments',
    'query Q { ...Root } fragment Root on Query { ... on Query { __type(name: "User") { name } } }',
  ],
  [
    'with a skipped field',
    'query($no: Boolean = false) { __schema { description } __type(name: "User") @include(if: $no) { name } }',
  ],
];

const more = [
  '{ __typename }',
  '{ __schema { queryType { name } } viewer { id } }',
  '{ __schema { queryType { name } } node(id: "x") { id } }',
  '{ __schema { queryType { name } } ...Root } fragment Root on Query { app { name } }',
  '{ __schema { queryType { name } } viewer @skip(if: true) { id } }',
  'mutation { __typename }',
  'mutation { userDelete(id: "x") { user { id } } }',
  '{ __schema { nothing } }',
  '{ __schema',
  '',
];

describe('by default', () => {
  let graph: GraphTest;
  beforeAll(async () => {
    graph = await shareService();
  });

  it.each(introspections)('introspection %s is answered without a token', async (_what, query) => {
    const { status, body } = await ask(graph, null, query);

    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
  });

  it('an operation without a token has one __schema and ten __type, wherever they stand', async () => {
    const { app } = await createTenant(graph);
    const types = (count: number) => Array.from({ length: count }, (_, n) => `t${n}: __type(name: "User") { name }`);
    const twoSchemas = '{ __schema { description } ...More } fragment More on Query { more: __schema { description } }';
    const elevenTypes = `{ ${types(6).join(' ')} ... { ${types(11).slice(6).join(' ')} } }`;

    for (const [query, most] of [
      [twoSchemas, '__schema at most once'],
      [elevenTypes, '__type at most 10 times'],
    ] as const) {
      const refused = await ask(graph, null, query);
      expectRefused(refused, 400, { code: 'LIMIT_EXCEEDED', limit: 'aliases' });
      expect(refused.body.errors?.[0]?.message).toBe(`Without a token an operation asks for ${most}; send one.`);
      expect((await ask(graph, app, query)).body.errors).toBeUndefined();
    }
    const twin = await ask(graph, null, `{ __schema { description } ${types(10).join(' ')} }`);
    expect(twin.body.errors).toBeUndefined();
    expect(Object.keys(twin.body.data ?? {})).toHaveLength(11);
  });

  it('is answered alike from the third time on, when it is remembered, and by the names of the one that asks', async () => {
    const query = getIntrospectionQuery();
    const first = await ask(graph, null, query);
    for (let time = 0; time < 3; time++) expect((await ask(graph, null, query)).body).toEqual(first.body);

    const asked = (name: string) => ask(graph, null, `{ ${name}: __type(name: "User") { name } }`);
    for (const name of ['a', 'b', 'a', 'b', 'a', 'b'])
      expect((await asked(name)).body).toEqual({ data: { [name]: { name: 'User' } } });
    const variable = 'query ($name: String!) { __type(name: $name) { name } }';
    for (const name of ['User', 'Unit', 'User', 'Unit'])
      expect((await ask(graph, null, variable, { name })).body).toEqual({ data: { __type: { name } } });
  });

  it.each(more)('anything more than introspection needs a token: %s', async (query) => {
    expectRefused(await ask(graph, null, query), 401, { code: 'UNAUTHENTICATED' });
  });

  it('a wrong token is refused also where none would do', async () => {
    expectRefused(await ask(graph, 'garbage', '{ __schema { queryType { name } } }'), 401, { code: 'UNAUTHENTICATED' });
  });

  it('only the operation that is asked for counts', async () => {
    const query = 'query Schema { __schema { queryType { name } } } query Data { viewer { id } }';
    const send = (operationName: string) =>
      fetch(`${graph.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ query, operationName }),
      });

    expect((await send('Schema')).status).toBe(200);
    expect((await send('Data')).status).toBe(401);
    expect((await send('Neither')).status).toBe(401);
  });

  it('errors suggest names to a token', async () => {
    await expectGuesses(graph, (text) => expect(text).toMatch(/ Did you mean /));
  });

  it('errors suggest no names without a token', async () => {
    const query =
      'query($deprecated: Boolean!) { __type(name: "User") { fields(includeDeprecated: $deprecated) { name } } }';
    for (const [guess, status] of [
      ['{ __schema { tipes { name } } }', 401],
      [query, 400],
    ] as const) {
      const { status: answered, body } = await ask(graph, null, guess, { deprecated: 'flase' });
      expect({ answered, text: JSON.stringify(body) }).toEqual({
        answered: status,
        text: expect.not.stringMatching(/did you mean/i),
      });
    }
  });
});

/** Names that are nearly right, by a token. */
async function expectGuesses(graph: GraphTest, check: (text: string) => void): Promise<void> {
  const { app } = await createTenant(graph);
  for (const query of [
    '{ viewr { id } }',
    '{ app { user { id } } }',
    '{ app { users(frist: 1) { totalCount } } }',
    '{ app { users(orderBy: FULL_NAME) { totalCount } } }',
    '{ app { ... on Usr { id } } }',
  ]) {
    const answer = await ask(graph, app, query);
    expectRefused(answer, 400, { code: 'GRAPHQL_VALIDATION_FAILED' });
    check(JSON.stringify(answer.body));
  }
  const orders = 'query($orders: [UserOrderBy!]) { app { users(orderBy: $orders) { totalCount } } }';
  const answer = await ask(graph, app, orders, { orders: ['FULL_NAME'] });
  expectRefused(answer, 400, { code: 'BAD_USER_INPUT', argument: 'orderBy', variable: 'orders' });
  check(JSON.stringify(answer.body));
  await read(graph, app, orders, { orders: ['FULL_NAME_ASC'] });
}

describe('with PUBLIC_INTROSPECTION=false', () => {
  let graph: OwnGraphTest;
  beforeAll(async () => {
    graph = await startGraphTest({ PUBLIC_INTROSPECTION: 'false' });
  });
  afterAll(() => graph.stop());

  it.each([...introspections.map(([, query]) => query), ...more])(
    'nothing is answered without a token, case %#',
    async (query) => {
      expectRefused(await ask(graph, null, query), 401, { code: 'UNAUTHENTICATED' });
    },
  );

  it('errors suggest no names', async () => {
    await expectGuesses(graph, (text) => expect(text).not.toMatch(/did you mean/i));
  });

  it.each(introspections)('introspection %s is answered with any token', async (_what, query) => {
    const { app, basic } = await createTenant(graph);

    await read(graph, app, query);
    await read(graph, basic, query);
  });
});

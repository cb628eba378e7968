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

  it('errors spell out no names that a document has only guessed at', async () => {
    const { app } = await createTenant(graph);

    for (const [query, code] of [
      ['{ viewr { id } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ app { user { id } } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ app { users(frist: 1) { totalCount } } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ app { users(orderBy: NAME) { totalCount } } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['{ app { ... on Usr { id } } }', 'GRAPHQL_VALIDATION_FAILED'],
    ] as const) {
      const answer = await ask(graph, app, query);
      expectRefused(answer, 400, { code });
      expect(JSON.stringify(answer.body)).not.toMatch(/did you mean/i);
    }
    const orders = 'query($orders: [UserOrderBy!]) { app { users(orderBy: $orders) { totalCount } } }';
    const answer = await ask(graph, app, orders, { orders: ['FULL_NAME'] });
    expectRefused(answer, 400, { code: 'BAD_USER_INPUT', argument: 'orders' });
    expect(JSON.stringify(answer.body)).not.toMatch(/did you mean/i);
    await read(graph, app, orders, { orders: ['FULL_NAME_ASC'] });
  });
});

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

  it.each(introspections)('introspection %s is answered with any token', async (_what, query) => {
    const { app, basic } = await createTenant(graph);

    await read(graph, app, query);
    await read(graph, basic, query);
  });
});

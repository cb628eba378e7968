import { shareService } from '../support/sharedService.ts';
import { ask, createTenant, createUser, expectRefused, type GraphTest, read, type Tenant } from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let id: string;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  ({ id } = await createUser(tenant, { externalIdentifier: 'u-1' }));
});

const users = (args: string) => `app { users(${args}) { totalCount } }`;
const one = { app: { users: { totalCount: 1 } } };

describe('null for a variable that has a default is refused where null may not be', () => {
  it.each<[string, string, (id: string) => string, unknown]>([
    [
      'in a list of orders',
      'orderBy',
      () => `query($v: UserOrderBy = FULL_NAME_ASC) { ${users('orderBy: [$v]')} }`,
      one,
    ],
    ['in a list of ids', 'ids', (id) => `query($v: ID = "${id}") { ${users('ids: [$v]')} }`, one],
    [
      'in a list of texts',
      'externalIdentifiers',
      () => `query($v: String = "u-1") { ${users('externalIdentifiers: ["x", $v]')} }`,
      one,
    ],
    [
      'an id',
      'id',
      (id) => `query($v: ID = "${id}") { node(id: $v) { __typename } }`,
      { node: { __typename: 'User' } },
    ],
    [
      'in a directive',
      'if',
      () => 'query($v: Boolean = true) { __typename app @skip(if: $v) { name } }',
      { __typename: 'Query' },
    ],
    [
      'in a fragment',
      'if',
      () => `query a($v: Boolean = true) { app { ...f } } fragment f on App { users @include(if: $v) { totalCount } }`,
      one,
    ],
    [
      'in a directive of a mutation',
      'if',
      () =>
        'mutation($v: Boolean = true) { __typename ...f @skip(if: $v) } fragment f on Mutation { userDelete(id: "x") { user { id } } }',
      { __typename: 'Mutation' },
    ],
    [
      'an argument of a mutation',
      'fullName',
      () => 'mutation($v: String = "A") { userCreate(fullName: $v, email: "a@x.test") { user { fullName } } }',
      { userCreate: { user: { fullName: 'A' } } },
    ],
  ])('%s', async (_where, argument, queryFor, data) => {
    const query = queryFor(id);

    const refusal = { code: 'BAD_USER_INPUT', argument, variable: 'v' };
    expectRefused(await ask(graph, tenant.app, query, { v: null }), 400, refusal);
    expect(await read(graph, tenant.app, query)).toEqual(data);
  });

  it.each<[string, string, string, unknown]>([
    ['a name', 'name', 'query($v: String = "Query") { __type(name: $v) { name } }', { __type: { name: 'Query' } }],
    [
      'in a directive',
      'if',
      'query($v: Boolean = false) { __schema { queryType { name } types @include(if: $v) { name } } }',
      { __schema: { queryType: { name: 'Query' } } },
    ],
  ])('without a token: %s', async (_where, argument, query, data) => {
    const refusal = { code: 'BAD_USER_INPUT', argument, variable: 'v' };
    expectRefused(await ask(graph, null, query, { v: null }), 400, refusal);
    expect(await read(graph, null, query)).toEqual(data);
  });
});

it('gives one error for each variable', async () => {
  const query = `query($a: ID = "x", $b: ID = "x") { ${users('ids: [$a, $b, $a]')} node(id: $b) { id } }`;
  const refused = (variable: string) => ({ code: 'BAD_USER_INPUT', argument: 'ids', variable });

  expectRefused(await ask(graph, tenant.app, query, { a: null, b: null }), 400, refused('a'), refused('b'));
});

it('is taken where null may be, whatever another operation does with a variable of that name', async () => {
  const query = `
    query asked($v: [ID!] = []) { ${users('ids: $v, externalIdentifiers: ["u-1"]')} }
    query other($v: Boolean = true) { ...f }
    fragment f on Query { __typename @include(if: $v) }`;
  const body = JSON.stringify({ query, operationName: 'asked', variables: { v: null } });
  const headers = { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' };

  const response = await fetch(`${graph.url}/graphql`, { method: 'POST', headers, body });

  expect(await response.json()).toEqual({ data: one });
});

import { hash } from 'node:crypto';
import { isExactNumber } from '../../plugins/values.ts';
import { findInexactNumbers } from '../../src/graphql/request.ts';
import { shareService } from '../support/sharedService.ts';
import { rawNumber } from './rawNumber.ts';
import {
  type Answer,
  ask,
  createTenant,
  createUser,
  expectRefused,
  type GraphTest,
  read,
  type Tenant,
} from './support.ts';

// Where a request may have numbers: what of them is refused, and which of its parts.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
});

test.each(['0', '-0', '0.0', '0e5', '1.10', '1e3', '1E+3', '0.1', '0.30000000000000004', '9007199254740992'])(
  'a double keeps %s',
  (source) => expect(isExactNumber(source)).toBe(true),
);

test.each(['9007199254740994', '12345678901234567000', '100000000000000000000', '1e21', '123456789.123456'])(
  'a double keeps the long %s',
  (source) => expect(isExactNumber(source)).toBe(true),
);

test.each(['1.7976931348623157e308', '5e-324', `1${'.'}${'0'.repeat(400)}`, `1${'0'.repeat(308)}`, '1e-300', '1e308'])(
  'a double keeps %s, at the ends of its range',
  (source) => expect(isExactNumber(source)).toBe(true),
);

test.each(['9007199254740993', '-9007199254740993', '1e400', '-1e400', '1e-400', '1.00000000000000000001', '4e-324'])(
  'no double is %s',
  (source) => expect(isExactNumber(source)).toBe(false),
);

test.each([
  '0.10000000000000001',
  '12345678901234567890',
  '1e309',
  '9999999999999999',
  `0.${'0'.repeat(400)}1`,
  '1e99999',
])('no double is the long %s', (source) => expect(isExactNumber(source)).toBe(false));

const inVariables = (text: string) =>
  findInexactNumbers(text, (parsed) => (parsed as { variables: object }).variables).map(({ path, source }) => [
    path,
    source,
  ]);

test.each<[json: string, found: [path: string, source: string][]]>([
  ['{"variables":{"a":1,"b":[0.5,"x"]}}', []],
  ['{"variables":{"a":9007199254740993}}', [['$a', '9007199254740993']]],
  ['{ "variables" : { "a" :\n[ 1e0 ,\t-1e400 ] } }', [['$a[1]', '-1e400']]],
  ['{"variables":{"a":{"b":[{"c":1},{"c":1e400}]}},"query":"{ a(b: [1e400]) }"}', [['$a.b[1].c', '1e400']]],
  ['{"variables":{"a":": 9007199254740993","b":",\\"[1e400","c":"\\\\","d":1e400}}', [['$d', '1e400']]],
  ['{"variables":{"x\\":1e400,\\"":1}}', []],
  ['{"variables":{"a":1e400,"a":1}}', []],
  ['{"variables":{"a":1,"a":1e400}}', [['$a', '1e400']]],
  ['{"variables":{"a":1e400},"variables":{"b":1}}', []],
  ['{"variables":{"__proto__":{"a":1e400}}}', [['$__proto__.a', '1e400']]],
  ['{"variables":{"a":1},"extensions":{"b":1e400}}', []],
  [
    '{"variables":{"a":1e400,"b":1.00000000000000000001}}',
    [
      ['$a', '1e400'],
      ['$b', '1.00000000000000000001'],
    ],
  ],
])('%s', (json, found) => {
  expect(inVariables(json)).toEqual(found);
});

test('lists that are nested a hundred thousand deep are read without recursion', () => {
  const json = `{"variables":{"a":${'['.repeat(100_000)}1e400${']'.repeat(100_000)}}}`;

  expect(inVariables(json)).toEqual([[expect.stringMatching(/^\$a(\[0\]){30,50}$/), '1e400']]);
});

test('more inexact numbers than a thousand refuse the request', async () => {
  const variables = { unused: Array.from({ length: 1001 }, () => rawNumber('1e400')) };

  expectRefused(await ask(graph, tenant.app, '{ app { name } }', variables), 400, { code: 'BAD_USER_INPUT' });
});

test('a variable that the operation does not declare may have any number', async () => {
  const answer = await read(graph, tenant.app, '{ app { users { totalCount } } }', { other: rawNumber('1e400') });

  expect(answer).toEqual({ app: { users: { totalCount: expect.any(Number) } } });
});

test('each number in a variable has its error, up to twenty and one that counts them', async () => {
  const document =
    'query ($ids: [ID!], $names: [String!]) { app { users(ids: $ids, externalIdentifiers: $names) { totalCount } } }';
  const number = rawNumber('9007199254740993');
  const refusal = (argument: string, variable: string) => ({ code: 'BAD_USER_INPUT', argument, variable });

  expectRefused(
    await ask(graph, tenant.app, document, { ids: [number], names: ['a', number] }),
    400,
    refusal('ids', 'ids'),
    refusal('externalIdentifiers', 'names'),
  );
  expectRefused(
    await ask(graph, tenant.app, document, { ids: Array.from({ length: 60 }, () => number) }),
    400,
    ...Array.from({ length: 20 }, () => refusal('ids', 'ids')),
    { code: 'BAD_USER_INPUT' },
  );
});

test.each<[document: string, variables: Record<string, unknown>, argument: string]>([
  ['query ($v: Int) { app { users(first: $v) { totalCount } } }', { v: rawNumber('1.00000000000000000001') }, 'first'],
  ['query ($v: Cursor) { app { users(after: $v) { totalCount } } }', { v: rawNumber('1e400') }, 'after'],
  ['query ($v: ID!) { node(id: $v) { id } }', { v: rawNumber('9007199254740993') }, 'id'],
  [
    'mutation ($v: [UserSyncInput!]!) { usersSync(users: $v) { results { outcome } } }',
    { v: [{ externalIdentifier: rawNumber('9007199254740993') }] },
    'users',
  ],
  [
    'mutation ($v: String!) { userCreate(fullName: $v, email: "a@acme.test") { user { id } } }',
    { v: rawNumber('1e400') },
    'fullName',
  ],
  ['subscription ($v: Cursor) { changes(after: $v) { cursor } }', { v: rawNumber('9007199254740993') }, 'after'],
])('%s is refused with such a number', async (document, variables, argument) => {
  expectRefused(await ask(graph, tenant.app, document, variables), 400, {
    code: 'BAD_USER_INPUT',
    argument,
    variable: 'v',
  });
});

test('a list, an object, a number or a boolean is no cursor', async () => {
  const document = 'query ($v: Cursor) { app { users(first: 1, after: $v) { pageInfo { endCursor } } } }';
  await createUser(tenant);
  const { app } = await read<{ app: { users: { pageInfo: { endCursor: string } } } }>(graph, tenant.app, document);
  const { endCursor } = app.users.pageInfo;
  await read(graph, tenant.app, document, { v: endCursor });

  for (const v of [[endCursor], [], {}, 5, true])
    expectRefused(await ask(graph, tenant.app, document, { v }), 400, { code: 'BAD_USER_INPUT', argument: 'after' });
});

test('a GET is refused with such a number, and not with another', async () => {
  const query = 'query ($v: Int) { app { users(first: $v) { totalCount } } }';
  const get = async (variables: string) => {
    const search = new URLSearchParams({ query, variables });
    const response = await fetch(`${graph.url}/graphql?${search}`, {
      headers: { Authorization: `Bearer ${tenant.app}`, Accept: 'application/graphql-response+json' },
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
  };

  expect(await get('{"v":1.0}')).toMatchObject({
    status: 200,
    body: { data: { app: { users: { totalCount: expect.any(Number) } } } },
  });
  expectRefused(await get('{"v":1.00000000000000000001}'), 400, {
    code: 'BAD_USER_INPUT',
    argument: 'first',
    variable: 'v',
  });
});

test('a persisted operation is refused with such a number, and not with another', async () => {
  const query = 'query ($v: Int) { app { users(first: $v) { totalCount } } }';
  const documentId = hash('sha256', query);
  const post = async (parameters: object) => {
    const response = await fetch(`${graph.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(parameters),
    });
    return response.json();
  };
  const answered = { data: { app: { users: { totalCount: expect.any(Number) } } } };
  expect(await post({ query, documentId })).toEqual(answered);

  expect(await post({ documentId, variables: { v: rawNumber('1.0') } })).toEqual(answered);
  expect(await post({ documentId, variables: { v: rawNumber('1.00000000000000000001') } })).toMatchObject({
    errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'first', variable: 'v' } }],
  });
});

test('a literal is refused in a document that has a mistake, too', async () => {
  const document = 'mutation { userCreate(fullName: "A", email: "a@acme.test", locale: 1e400) { nothing } }';

  expectRefused(await ask(graph, tenant.app, document), 400, { code: 'BAD_USER_INPUT', argument: 'locale' });
});

test('a literal for an Int is left to validation, which says its range', async () => {
  for (const size of ['1e400', '9007199254740993', '9007199254740992'])
    expectRefused(await ask(graph, tenant.app, `{ app { users(first: ${size}) { totalCount } } }`), 400, {
      code: 'GRAPHQL_VALIDATION_FAILED',
    });
});

import { shareService } from '../support/sharedService.ts';
import { hostileDocuments } from './hostileDocuments.ts';
import { codeIn, type Post, posting, sendingRaw } from './rawRequest.ts';
import { ask, createTenant, expectRefused, type GraphTest, read } from './support.ts';

// Hostile documents, names and cursors: each gets a short error, and none is a failure of the service.

let graph: GraphTest;
let token: string;
let post: Post;
beforeAll(async () => {
  graph = await shareService();
  token = (await createTenant(graph)).app;
  post = posting(sendingRaw(graph, token));
});

// Nothing that a client sends is a failure of the service.
afterEach(() => {
  expect(graph.logs.splice(0).filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

describe('a document', () => {
  it.each(Object.entries(hostileDocuments))(
    'of %s is refused, with one short error',
    async (_name, { attack, refusal }) => {
      const answer = await ask(graph, token, attack);

      const [error] = answer.body.errors ?? [];
      expect({ status: answer.status, ...error?.extensions, data: answer.body.data }).toEqual({
        status: 400,
        ...refusal,
      });
      expect(JSON.stringify(answer.body)).not.toMatch(/\n\s*at |node_modules/);
    },
  );

  it.each(Object.entries(hostileDocuments))('like %s, but in order, is answered', async (_name, { twin }) => {
    await read(graph, token, twin);
  });

  it('gets one error for a mistake that it repeats', async () => {
    const { body } = await ask(graph, token, `{ __typename ${'@aa'.repeat(10)} }`);

    expect(body.errors).toHaveLength(1);
    expect(body.errors?.[0]).toMatchObject({ locations: Array(10).fill({ line: 1 }) });
  });
});

it('says of a cursor of lists in lists that it is none', async () => {
  const cursor = `${'['.repeat(8000)}${']'.repeat(8000)}`;
  const query = 'query($after: Cursor) { app { users(after: $after) { totalCount } } }';

  const { status, text } = await post(`{"query":"${query}","variables":{"after":${cursor}}}`);

  expect({ status, errors: JSON.parse(text).errors }).toEqual({
    status: 200,
    errors: [
      {
        message: 'after: not a cursor of this connection in this order.',
        locations: [{ line: 1, column: 31 }],
        extensions: { code: 'BAD_USER_INPUT', argument: 'after' },
      },
    ],
  });
  expect(await post(`{"query":"${query}"}`)).toMatchObject({ status: 200 });
});

describe('a name that every JavaScript object has', () => {
  const names = ['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];
  const users = (name: string, type: string, argument: string) =>
    `query($${name}: ${type}) { app { users(${argument}: $${name}) { totalCount } } }`;

  it.each(names)('is that of a variable which may be absent: %s', async (name) => {
    for (const [argument, type] of [
      ['first', 'Int'],
      ['ids', '[ID!]'],
      ['after', 'Cursor'],
      ['orderBy', '[UserOrderBy!]'],
    ] as const)
      expect(await read(graph, token, users(name, type, argument))).toEqual({ app: { users: { totalCount: 0 } } });
    const created = await read(
      graph,
      token,
      `mutation($${name}: String) { userCreate(fullName: "A", email: "${name}@acme.test", externalIdentifier: $${name}) { user { externalIdentifier } } }`,
    );
    expect(created).toEqual({ userCreate: { user: { externalIdentifier: null } } });
    await read(graph, token, `mutation { userDelete(id: "${await idOf(`${name}@acme.test`)}") { user { id } } }`);
  });

  it.each(names)('is that of a variable which is needed, checked and used: %s', async (name) => {
    const missing = await ask(graph, token, `query($${name}: ID!) { node(id: $${name}) { id } }`);
    expectRefused(missing, 400, { code: 'BAD_USER_INPUT', argument: 'id', variable: name });

    // As text: in an object literal __proto__ would be no key.
    const send = (value: number) => post(`{"query":"${users(name, 'Int', 'first')}","variables":{"${name}":${value}}}`);
    expect((await send(1001)).text).toContain('"argument":"first"');
    expect(await send(1000)).toMatchObject({ status: 200, text: '{"data":{"app":{"users":{"totalCount":0}}}}' });
  });

  it.each(names)('is that of an operation, an alias and a key of JSON: %s', async (name) => {
    const query = `query ${name} { ${name}: app { ${name}: name } }`;
    const { text } = await post(
      `{"query":"${query}","operationName":"${name}","${name}":{"query":"{"},"variables":{"${name}":{"a":1}},"extensions":{"${name}":1}}`,
    );

    expect(text).toBe(`{"data":{"${name}":{"${name}":"Acme Backend"}}}`);
    expect(({} as Record<string, unknown>).a).toBeUndefined();
    const unknown = await post(`{"query":"query A { __typename }","operationName":"${name}"}`);
    expect(codeIn(unknown.text)).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it.each(names)('is no field, argument, type, directive or fragment: %s', async (name) => {
    for (const query of [
      `{ ${name} }`,
      `{ app { users(${name}: 1) { totalCount } } }`,
      `{ ... on ${name} { id } }`,
      `{ __typename @${name} }`,
      `{ ...${name} }`,
      `query($v: ${name}) { node(id: $v) { id } }`,
      `{ app { users(orderBy: ${name}) { totalCount } } }`,
    ])
      expect((await ask(graph, token, query)).body.errors?.[0]?.extensions).toEqual({
        code: 'GRAPHQL_VALIDATION_FAILED',
      });
  });

  async function idOf(email: string): Promise<string> {
    const { app } = await read<{ app: { users: { nodes: { id: string; email: string }[] } } }>(
      graph,
      token,
      '{ app { users { nodes { id email } } } }',
    );
    return app.users.nodes.find((user) => user.email === email)?.id ?? '';
  }
});

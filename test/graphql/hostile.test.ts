import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { shareService } from '../support/sharedService.ts';
import { hostileDocuments } from './hostileDocuments.ts';
import { ask, createTenant, expectRefused, type GraphTest, read } from './support.ts';

let graph: GraphTest;
let token: string;
beforeAll(async () => {
  graph = await shareService();
  token = (await createTenant(graph)).app;
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

/** A request as it goes over the line, with the token unless it is said otherwise; resolves when the service closes. */
async function sendRaw(
  method: string,
  target: string,
  headers: Record<string, string>,
  body: string | Uint8Array = '',
): Promise<{ status: number; headers: string; text: string }> {
  const socket = connect(Number(new URL(graph.url).port), '127.0.0.1');
  const all = { Host: 'localhost', Connection: 'close', Authorization: `Bearer ${token}`, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  socket.write(body);
  const received = Buffer.concat(await socket.toArray()).toString();
  const [head = '', ...rest] = received.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), headers: head, text: rest.join('\r\n\r\n') };
}

const json = { 'Content-Type': 'application/json' };
const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  sendRaw('POST', '/graphql', { ...json, 'Content-Length': String(Buffer.byteLength(body)), ...headers }, body);
const codeIn = (text: string) => /"code":"(\w+)"/.exec(text)?.[1];
const typename = '{"query":"{ __typename }"}';
const answered = { status: 200, text: '{"data":{"__typename":"Query"}}' };

describe('a page of another site', () => {
  const form = 'query=mutation%20cop%20%7B__typename%7D';

  it('cannot send what a browser sends without asking first', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])
      for (const body of [form, typename]) {
        const { status, text } = await post(body, { 'Content-Type': type });
        expect({ status, code: codeIn(text) }).toEqual({ status: 415, code: 'BAD_USER_INPUT' });
      }
    expect(await post(typename)).toMatchObject(answered);
  });

  it('changes nothing by GET', async () => {
    for (const query of [
      'mutation cop {__typename}',
      'mutation { userDelete(externalIdentifier: "u") { user { id } } }',
    ]) {
      const { status, text } = await sendRaw('GET', `/graphql?${new URLSearchParams({ query })}`, {});
      expect({ status, code: codeIn(text) }).toEqual({ status: 405, code: 'BAD_USER_INPUT' });
    }
    expect(await post('{"query":"mutation cop {__typename}"}')).toMatchObject({ status: 200 });
  });

  // A GET may read. But a browser adds the token nowhere by itself, and no cookie stands for it.
  it('reads nothing by GET, since the token is in no cookie and not in the address', async () => {
    const query = 'query cop {__typename}';
    for (const [parameters, headers] of [
      [{ query }, { Cookie: `access_token=${token}; token=${token}` }],
      [{ query, access_token: token }, {}],
      [{ query, token }, {}],
    ] as const) {
      const response = await fetch(`${graph.url}/graphql?${new URLSearchParams(parameters)}`, { headers });
      expect([response.status, codeIn(await response.text())]).toEqual([401, 'UNAUTHENTICATED']);
    }
    expect(await sendRaw('GET', `/graphql?${new URLSearchParams({ query })}`, {})).toMatchObject(answered);
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

it.each(['', 'http://localhost', 'http://[', 'http://a:99999', 'http://%'])(
  'a query is read wherever it stands, after %j',
  async (host) => {
    const target = `${host}/graphql?${new URLSearchParams({ query: '{ __typename }' })}`;

    expect(await sendRaw('GET', target, {})).toMatchObject(answered);
    expect(await sendRaw('GET', `${target}#query=x`, {})).toMatchObject(answered);
    expect(await sendRaw('GET', `${host}/graphql`, {})).toMatchObject({ status: 400 });
  },
);

// Introspection that the operator has closed: introspection.test.ts.
describe('what graphql-cop looks for, too', () => {
  it('is no batch', async () => {
    const { status, text } = await post(`[${Array(10).fill(typename)}]`);

    expect({ status, code: codeIn(text) }).toEqual({ status: 400, code: 'BAD_USER_INPUT' });
    expect(await post(typename)).toMatchObject(answered);
  });

  it('is no trace of the execution', async () => {
    for (const headers of [
      {},
      { 'X-Apollo-Tracing': '1', 'X-GraphQL-Explain': 'plan', 'apollo-federation-include-trace': 'ftv1' },
    ]) {
      const { text } = await post('{"query":"{ app { name } }","extensions":{"tracing":true,"explain":true}}', headers);
      expect(JSON.parse(text)).toEqual({ data: { app: { name: 'Acme Backend' } } });
    }
  });

  it('is no explorer at the endpoint, wherever explorers are', async () => {
    for (const path of [
      '/graphql',
      '/graphql?query={__typename}',
      '/graphql/console',
      '/graphiql',
      '/playground',
      '/console',
    ]) {
      const { status, text } = await sendRaw('GET', path, { Accept: 'text/html' });
      expect([404, 406]).toContain(status);
      expect(text).not.toMatch(/graphiql|playground|<html/i);
    }
  });
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

describe('a body', () => {
  const withVariables = (variables: string, query = '{ __typename }') =>
    `{"query":"${query}","variables":${variables}}`;
  const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

  it('with a key twice means the last', async () => {
    expect(await post('{"query":"{","query":"{ __typename }"}')).toMatchObject(answered);
    expect(codeIn((await post('{"query":"{ __typename }","query":"{"}')).text)).toBe('GRAPHQL_PARSE_FAILED');
  });

  it('may be as deep as it is long', async () => {
    expect(await post(withVariables(`{"unused":${deep(45_000)}}`))).toMatchObject(answered);
    const used = await post(
      withVariables(`{"ids":${deep(45_000)}}`, 'query($ids: [ID!]) { app { users(ids: $ids) { totalCount } } }'),
    );
    expect(codeIn(used.text)).toBe('BAD_USER_INPUT');
    expect(used.text.length).toBeLessThan(1000);
    expect((await post('['.repeat(90_000))).status).toBe(400);
  });

  it('may be as deep, and the operation long', async () => {
    const query = '{ app { rootUnits { nodes { children { nodes { children { nodes { id } } } } } } } }';

    const { status, text } = await post(withVariables(`{"unused":${deep(45_000)}}`, query));

    expect({ status, text }).toEqual({ status: 200, text: '{"data":{"app":{"rootUnits":{"nodes":[]}}}}' });
  });

  it.each([
    '9007199254740993',
    '2147483648',
    '-2147483649',
    '1e400',
    '-1e400',
    '1.5',
    '1e-400',
    '"1"',
    'true',
    '[1]',
    '{}',
  ])('cannot ask for a page of %s rows', async (size) => {
    const { text } = await post(
      withVariables(`{"n":${size}}`, 'query($n: Int) { app { users(first: $n) { totalCount } } }'),
    );

    // 1e-400 would be 0, and a list of one is that one for no scalar.
    expect(codeIn(text)).toBe('BAD_USER_INPUT');
  });

  it('may have numbers for ids, which are none, but not one that is read as another', async () => {
    const ask = async (id: string) =>
      (await post(withVariables(`{"id":${id}}`, 'query($id: ID!) { node(id: $id) { id } }'))).text;

    for (const id of ['1', '9007199254740992', '-1']) expect(await ask(id)).toBe('{"data":{"node":null}}');
    expect(codeIn(await ask('9007199254740993'))).toBe('BAD_USER_INPUT');
  });

  it('may have 8,000 undeclared variables', async () => {
    const variables = Array.from({ length: 8000 }, (_, index) => `"${index}":1`);

    expect(await post(withVariables(`{${variables}}`))).toMatchObject(answered);
  });

  it('may have a value of 90,000 characters, which is too long or matches nothing', async () => {
    const value = 'x'.repeat(90_000);
    const found = await post(
      withVariables(
        `{"v":["${value}"]}`,
        'query($v: [String!]) { app { users(externalIdentifiers: $v) { totalCount } } }',
      ),
    );
    expect(found.text).toBe('{"data":{"app":{"users":{"totalCount":0}}}}');
    const created = await post(
      withVariables(
        `{"v":"${value}"}`,
        'mutation($v: String!) { userCreate(fullName: $v, email: $v) { user { id } } }',
      ),
    );
    expect(codeIn(created.text)).toBe('BAD_USER_INPUT');
  });

  it('begins with no byte order mark, though a document in it may', async () => {
    expect(await post('{"query":"\\ufeff{ __typename }"}')).toMatchObject(answered);
    // TextDecoder takes one away.
    expect((await post(`\ufeff${typename}`)).status).toBe(200);
    expect((await post(Buffer.from(typename, 'utf16le'))).status).toBe(400);
  });

  it.each([
    ['a byte that is never there', [0xff]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half a surrogate pair', [0xed, 0xa0, 0xbd]],
    ['the beginning of a character', [0xf0, 0x9f]],
    ['a character beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
  ])('is UTF-8, without %s', async (_what, bytes) => {
    const [before, after] = typename.split('__typename');
    const body = (inner: Uint8Array) =>
      Buffer.concat([Buffer.from(`${before}__typename #`), inner, Buffer.from(String(after))]);

    const { status, text } = await post(body(new Uint8Array(bytes)));

    expect({ status, code: codeIn(text) }).toEqual({ status: 400, code: 'BAD_USER_INPUT' });
  });

  it('is unpacked no further than its limit', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
    const { status, text } = await post(bomb, { 'Content-Encoding': 'gzip' });
    expect({ status, code: codeIn(text) }).toEqual({ status: 413, code: 'LIMIT_EXCEEDED' });
    expect(await post(gzipSync(typename), { 'Content-Encoding': 'gzip' })).toMatchObject(answered);
  });

  it.each(['gzip, gzip', 'nonsense', 'compress', 'chunked'])('has no encoding %s', async (encoding) => {
    const { status, text } = await post(gzipSync(typename), { 'Content-Encoding': encoding });

    expect({ status, code: codeIn(text) }).toEqual({ status: 415, code: 'BAD_USER_INPUT' });
  });

  it.each(['gzip', 'deflate', 'br'])('is in the encoding %s if it says so, and whole', async (encoding) => {
    for (const body of [typename, '', gzipSync(typename).subarray(0, 20)]) {
      const { status } = await post(body, { 'Content-Encoding': encoding });
      expect(status).toBe(400);
    }
  });

  it('may come byte by byte, while others are answered', async () => {
    const socket = connect(Number(new URL(graph.url).port), '127.0.0.1');
    const head = {
      Host: 'localhost',
      Connection: 'close',
      Authorization: `Bearer ${token}`,
      ...json,
      'Transfer-Encoding': 'chunked',
    };
    const chunk = (text: string) => socket.write(`${text.length.toString(16)}\r\n${text}\r\n`);
    socket.write(
      `POST /graphql HTTP/1.1\r\n${Object.entries(head)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    );
    for (const character of typename.slice(0, -1)) chunk(character);

    expect(await post(typename)).toMatchObject(answered);

    chunk(typename.slice(-1));
    socket.write('0\r\n\r\n');
    expect((await socket.toArray()).join('')).toContain(answered.text);
  });

  it('may come in chunks, which count together', async () => {
    const chunked = (count: number) =>
      `${`3e8\r\n${' '.repeat(1000)}\r\n`.repeat(count)}1a\r\n${typename}\r\n0\r\n\r\n`;
    const headers = { ...json, 'Transfer-Encoding': 'chunked' };

    expect(await sendRaw('POST', '/graphql', headers, chunked(999))).toMatchObject({ status: 200 });
    expect(await sendRaw('POST', '/graphql', headers, chunked(1000))).toMatchObject({ status: 413 });
  });

  it('has one length', async () => {
    for (const headers of [
      { 'Content-Length': '5', 'Transfer-Encoding': 'chunked' },
      { 'Content-Length': '-1' },
      { 'Transfer-Encoding': 'gzip' },
    ])
      expect(await sendRaw('POST', '/graphql', { ...json, ...headers }, typename)).toMatchObject({ status: 400 });
  });
});

describe('a request', () => {
  const query = '/graphql?query={__typename}';

  it.each(['TRACE', 'OPTIONS', 'HEAD', 'PURGE', 'PROPFIND', 'M-SEARCH', 'QUERY', 'DELETE', 'PUT'])(
    'is no %s',
    async (method) => {
      const { status, headers, text } = await sendRaw(method, query, {});

      expect({ status, code: codeIn(text) }).toEqual({
        status: 405,
        code: method === 'HEAD' ? undefined : 'BAD_USER_INPUT',
      });
      expect(headers).toContain('Allow: GET, POST');
      expect(text + headers).not.toContain(token);
    },
  );

  it('tunnels nowhere', async () => {
    const { status, text } = await sendRaw('CONNECT', 'example.com:443', {});

    expect({ status, text }).toEqual({ status: Number.NaN, text: '' });
  });

  it('becomes no other by a header or a parameter', async () => {
    for (const headers of [{ 'X-HTTP-Method-Override': 'DELETE' }, { 'X-HTTP-Method': 'PUT' }, { Upgrade: 'h2c' }])
      expect(await sendRaw('GET', query, headers)).toMatchObject(answered);
    expect(await sendRaw('GET', `${query}&_method=delete`, {})).toMatchObject(answered);
  });

  it.each([
    ['', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['application/json;q=0.001', 200],
    ['application/xml, application/json', 200],
    ['application/graphql-response+json; nonsense="', 200],
    ['application/json;q=0', 406],
    ['text/event-stream', 200],
    ['text/event-stream;q=0', 406],
    ['text/*', 406],
    ['nonsense', 406],
    [';;;,,,', 406],
    ['é', 406],
    ['a/b,'.repeat(3000), 406],
  ])('that accepts %.40s is %d', async (accept, expected) => {
    const { status, text } = await sendRaw('GET', query, { Accept: accept });

    expect({ status, code: codeIn(text) }).toEqual({
      status: expected,
      code: expected === 406 ? 'BAD_USER_INPUT' : undefined,
    });
  });
});

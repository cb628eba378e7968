import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { shareService } from '../support/sharedService.ts';
import { answered, codeIn, json, type Post, posting, type SendRaw, sendingRaw, typename } from './rawRequest.ts';
import { createTenant, type GraphTest } from './support.ts';

// Bodies of HTTP that are broken, deep, large or slow.

let graph: GraphTest;
let token: string;
let sendRaw: SendRaw;
let post: Post;
beforeAll(async () => {
  graph = await shareService();
  token = (await createTenant(graph)).app;
  sendRaw = sendingRaw(graph, token);
  post = posting(sendRaw);
});

// Nothing that a client sends is a failure of the service.
afterEach(() => {
  expect(graph.logs.splice(0).filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
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

import { gzipSync } from 'node:zlib';
import { serverAudits } from 'graphql-http';
import { shareService } from '../support/sharedService.ts';
import { createTenant, type GraphTest } from './support.ts';

let graph: GraphTest;
let token: string;
beforeAll(async () => {
  graph = await shareService();
  token = (await createTenant(graph)).app;
});

const jsonType = 'application/json; charset=utf-8';
const graphqlType = 'application/graphql-response+json; charset=utf-8';

describe('the audits of graphql-http', () => {
  const audits = serverAudits({
    url: () => `${graph.url}/graphql`,
    fetchFn: (url: string, init?: RequestInit) => {
      const headers = new Headers(init?.headers);
      headers.set('Authorization', `Bearer ${token}`);
      return fetch(url, { ...init, headers });
    },
  });

  it('are all sixty-one', () => {
    expect(audits).toHaveLength(61);
  });

  it.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s: %s', async (_id, _name, audit) => {
    const result = await audit.fn();

    expect(result).toMatchObject({ status: 'ok' });
  });
});

type Sent = {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  path?: string;
};

async function send({ method = 'POST', headers = {}, body, path = '/graphql' }: Sent) {
  const response = await fetch(graph.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('Content-Type'),
    headers: response.headers,
    body: (text === '' ? null : JSON.parse(text)) as {
      data?: unknown;
      errors?: { extensions: { code: string } }[];
    } | null,
  };
}

const post = (body: unknown, headers: Record<string, string> = {}) =>
  send({ body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });
const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  send({ method: 'GET', path: `/graphql?${new URLSearchParams(parameters)}`, headers });
const codes = ({ body }: Awaited<ReturnType<typeof send>>) => body?.errors?.map(({ extensions }) => extensions.code);

describe('GET', () => {
  it('takes a query with its variables and operation name', async () => {
    const { status, body } = await get({
      query: 'query A($first: Int) { app { users(first: $first) { nodes { id } } } } query B { __typename }',
      variables: '{"first":1}',
      operationName: 'A',
    });

    expect({ status, body }).toEqual({ status: 200, body: { data: { app: { users: { nodes: [] } } } } });
  });

  it('refuses a mutation with 405, which by POST is run', async () => {
    const query = 'mutation { userCreate(fullName: "A", email: "get@acme.test") { user { fullName } } }';

    const refused = await get({ query });
    expect({ status: refused.status, allow: refused.headers.get('Allow'), codes: codes(refused) }).toEqual({
      status: 405,
      allow: 'POST',
      codes: ['BAD_USER_INPUT'],
    });
    expect((await post({ query })).body).toEqual({ data: { userCreate: { user: { fullName: 'A' } } } });
  });

  it.each([
    ['no query', {}],
    ['an empty query', { query: '' }],
    ['variables that are not JSON', { query: '{ __typename }', variables: '{' }],
    ['variables that are not an object', { query: '{ __typename }', variables: '[]' }],
    ['extensions that are not an object', { query: '{ __typename }', extensions: '1' }],
  ])('refuses %s', async (_what, parameters) => {
    const answer = await get(parameters as Record<string, string>);

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 400, codes: ['BAD_USER_INPUT'] });
  });

  it('refuses a repeated parameter', async () => {
    const answer = await send({ method: 'GET', path: '/graphql?query={__typename}&query={app{name}}' });

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 400, codes: ['BAD_USER_INPUT'] });
  });
});

describe('POST', () => {
  it('takes null for what may be absent, an empty operation name for none, and ignores unknown members', async () => {
    for (const others of [
      { variables: null, operationName: null, extensions: null },
      { variables: {}, operationName: '', extensions: {} },
      { unknown: 1 },
    ])
      expect(await post({ query: '{ app { name } }', ...others })).toMatchObject({
        status: 200,
        body: { data: { app: { name: 'Acme Backend' } } },
      });
  });

  it.each([
    ['a batch', [{ query: '{ __typename }' }]],
    ['an empty batch', []],
    ['a string', '{ __typename }'],
    ['null', null],
    ['no query', { qeury: '{ __typename }' }],
    ['an empty query', { query: '' }],
    ['a query that is not a string', { query: ['{ __typename }'] }],
    ['variables that are a list', { query: '{ __typename }', variables: [] }],
    ['variables that are a string', { query: '{ __typename }', variables: '{}' }],
    ['an operation name that is not a string', { query: '{ __typename }', operationName: 1 }],
    ['extensions that are not an object', { query: '{ __typename }', extensions: true }],
  ])('refuses %s', async (_what, body) => {
    for (const Accept of [graphqlType, 'application/json']) {
      const answer = await post(body, { Accept });
      expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 400, codes: ['BAD_USER_INPUT'] });
    }
  });

  it.each([
    ['nothing', ''],
    ['no JSON', 'query { __typename }'],
    ['half of a JSON object', '{"query": "{ __type'],
    ['what is not UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
  ])('refuses a body of %s, and quotes none of it', async (_what, body) => {
    const answer = await send({ body, headers: { 'Content-Type': 'application/json' } });

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 400, codes: ['BAD_USER_INPUT'] });
    expect(JSON.stringify(answer.body)).not.toMatch(/__type|Unexpected|position/);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
  ])('refuses Content-Type %s with 415', async (type) => {
    const answer = await send({ body: '{"query":"{ __typename }"}', headers: { 'Content-Type': type } });

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 415, codes: ['BAD_USER_INPUT'] });
    expect(answer.headers.get('Accept-Post')).toBe('application/json');
  });

  it.each([
    'application/json',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
    'Application/JSON',
  ])('takes Content-Type %s', async (type) => {
    const answer = await send({ body: '{"query":"{ __typename }"}', headers: { 'Content-Type': type } });

    expect(answer).toMatchObject({ status: 200, body: { data: { __typename: 'Query' } } });
  });

  it('takes a compressed body, and refuses what is not in the encoding that it claims', async () => {
    const body = '{"query":"{ __typename }"}';
    const encoded = (encoding: string) => ({ 'Content-Type': 'application/json', 'Content-Encoding': encoding });

    expect((await send({ body: new Uint8Array(gzipSync(body)), headers: encoded('gzip') })).status).toBe(200);
    expect((await send({ body, headers: encoded('gzip') })).status).toBe(400);
    expect((await send({ body, headers: encoded('unknown') })).status).toBe(415);
  });

  it('measures a compressed body by what it unpacks to', async () => {
    const body = new Uint8Array(gzipSync(`{"query":"{ __typename ${' '.repeat(1_000_000)}}"}`));

    const answer = await send({ body, headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' } });

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 413, codes: ['LIMIT_EXCEEDED'] });
  });
});

describe('Accept', () => {
  it.each([
    [undefined, jsonType],
    ['*/*', jsonType],
    ['application/*', jsonType],
    ['application/json', jsonType],
    ['application/graphql-response+json', graphqlType],
    ['application/graphql-response+json; charset=utf-8, application/json; charset=utf-8', graphqlType],
    ['application/json, application/graphql-response+json', jsonType],
    ['application/json;q=0.5, application/graphql-response+json', graphqlType],
    ['text/html, application/graphql-response+json;q=0.1', graphqlType],
  ])('%s is answered as %s', async (accept, expected) => {
    const { status, type } = await post({ query: '{ __typename }' }, accept ? { Accept: accept } : {});

    expect({ status, type }).toEqual({ status: 200, type: expected });
  });

  it('without a media type that the service has is 406', async () => {
    const answer = await post({ query: '{ __typename }' }, { Accept: 'text/html' });

    expect({ status: answer.status, codes: codes(answer) }).toEqual({ status: 406, codes: ['BAD_USER_INPUT'] });
    expect(answer.type).toBe(jsonType);
  });

  it('decides about the status of a refused document: 400, or 200 for clients of application/json', async () => {
    for (const [query, code] of [
      ['{', 'GRAPHQL_PARSE_FAILED'],
      ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query A { __typename } query B { __typename }', 'GRAPHQL_VALIDATION_FAILED'],
      ['fragment F on User { id }', 'GRAPHQL_VALIDATION_FAILED'],
      ['subscription { viewer { id } }', 'GRAPHQL_VALIDATION_FAILED'],
      ['query($id: ID!) { node(id: $id) { id } }', 'BAD_USER_INPUT'],
      ['{ app { users(first: -1) { totalCount } } }', 'BAD_USER_INPUT'],
    ])
      for (const [Accept, status] of [
        ['application/graphql-response+json', 400],
        ['application/json', 200],
      ] as const) {
        const answer = await post({ query }, { Accept });
        expect({ status: answer.status, codes: codes(answer), data: answer.body?.data }).toEqual({
          status,
          codes: [code],
          data: undefined,
        });
      }
  });
});

test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])('%s is 405', async (method) => {
  const { status, headers } = await send({ method });

  expect({ status, allow: headers.get('Allow') }).toEqual({ status: 405, allow: 'GET, POST' });
});

test('nothing keeps an answer', async () => {
  for (const { headers } of [await post({ query: '{ __typename }' }), await get({ query: '{ __typename }' })])
    expect([headers.get('Cache-Control'), headers.get('Vary'), headers.get('ETag')]).toEqual([
      'no-store',
      'Accept, Accept-Encoding, Authorization',
      null,
    ]);
});

describe('an answer of more than 1 kB', () => {
  const query = '{ __schema { types { name description } } }';

  it.each([
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['gzip;q=0.5, br', 'br'],
    ['deflate, gzip;q=0.9, zstd', 'gzip'],
    ['*', 'br'],
    ['', null],
    ['identity', null],
    ['gzip;q=0', null],
    ['zstd', null],
  ])('is encoded for a client that accepts %j: %s', async (accepted, encoding) => {
    const plain = await post({ query }, { 'Accept-Encoding': 'identity' });
    const encoded = await post({ query }, { 'Accept-Encoding': accepted });

    expect(encoded.headers.get('Content-Encoding')).toBe(encoding);
    expect(encoded.body).toEqual(plain.body);
    const [length, plainLength] = [encoded, plain].map(({ headers }) => Number(headers.get('Content-Length')));
    if (encoding) expect(length).toBeLessThan((plainLength ?? 0) / 2);
    else expect(length).toBe(plainLength);
  });

  it('is encoded also when it is an error, and a shorter one never is', async () => {
    const mistakes = Array.from({ length: 20 }, (_, number) => `nothing${number}`);
    const encodingOf = async (document: string) =>
      (await post({ query: document }, { 'Accept-Encoding': 'gzip' })).headers.get('Content-Encoding');

    expect(await encodingOf(`{ ${mistakes.join(' ')} }`)).toBe('gzip');
    expect(await encodingOf('{ nothing }')).toBeNull();
    expect(await encodingOf('{ __typename }')).toBeNull();
  });
});

test('a placeholder that was pasted for a token is answered with what to put in its place', async () => {
  const { status, headers, body } = await post({ query: '{ __typename }' }, { Authorization: 'Bearer <ACCESS_TOKEN>' });

  expect({ status, challenge: headers.get('WWW-Authenticate') }).toEqual({
    status: 401,
    challenge: expect.stringContaining('error="invalid_token", error_description="Replace <ACCESS_TOKEN>, '),
  });
  expect(body?.errors).toMatchObject([
    { message: expect.stringMatching(/^Replace <ACCESS_TOKEN>, .* \/oauth\/token/) },
  ]);
});

test('a path below the endpoint is another', async () => {
  const answer = await send({
    path: '/graphql/nothing',
    body: '{"query":"{ __typename }"}',
    headers: { 'Content-Type': 'application/json' },
  });

  expect(answer.status).toBe(404);
});

import { gzipSync } from 'node:zlib';
import { serverAudits } from 'graphql-http';
import { shareService } from '../support/sharedService.ts';
import { codes, type Send, sending } from './httpRequest.ts';
import { createTenant, type GraphTest } from './support.ts';

let graph: GraphTest;
let token: string;
let send: Send;
beforeAll(async () => {
  graph = await shareService();
  token = (await createTenant(graph)).app;
  send = sending(graph, token);
});
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

const post = (body: unknown, headers: Record<string, string> = {}) =>
  send({ body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } });
const get = (parameters: Record<string, string>, headers: Record<string, string> = {}) =>
  send({ method: 'GET', path: `/graphql?${new URLSearchParams(parameters)}`, headers });

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

test.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'])('%s is 405', async (method) => {
  const { status, headers } = await send({ method });

  expect({ status, allow: headers.get('Allow') }).toEqual({ status: 405, allow: 'GET, POST' });
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

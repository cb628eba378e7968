import { shareService } from '../support/sharedService.ts';
import { answered, codeIn, type Post, posting, type SendRaw, sendingRaw, typename } from './rawRequest.ts';
import { createTenant, type GraphTest } from './support.ts';

// Requests of other sites, of scanners, and those that mean two things at once.

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

it.each(['', 'http://localhost'])('a query is read wherever it stands, after %j', async (host) => {
  const target = `${host}/graphql?${new URLSearchParams({ query: '{ __typename }' })}`;

  expect(await sendRaw('GET', target, {})).toMatchObject(answered);
  expect(await sendRaw('GET', `${target}#query=x`, {})).toMatchObject(answered);
  expect(await sendRaw('GET', `${host}/graphql`, {})).toMatchObject({ status: 400 });
});

it.each(['http://[', 'http://a:99999', 'http://%', 'http://another'])('no query is read after %j', async (host) => {
  const { status, text } = await sendRaw(
    'GET',
    `${host}/graphql?${new URLSearchParams({ query: '{ __typename }' })}`,
    {},
  );

  expect({ status, code: codeIn(text) }).toEqual({ status: 400, code: 'BAD_USER_INPUT' });
});

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
    ['text/*', 200],
    ['text/*;q=0', 406],
    ['text/html', 406],
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

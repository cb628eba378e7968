import { request } from 'node:http';
import { createRefusal } from '../../src/http/admission.ts';
import { createRouteOf } from '../../src/http/requestTarget.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { fieldsOf } from '../../src/observability/requestFields.ts';
import { until } from '../support/until.ts';

describe('a request that cannot be served soon', () => {
  const lines: string[] = [];
  let server: HttpServer;

  beforeAll(async () => {
    const log = createLog('info', { write: (line) => lines.push(line) });
    const refuse = createRefusal({
      log,
      isHttps: false,
      corsOrigins: ['https://app.example.com', /^http:\/\/localhost(:\d+)?$/],
    });
    const routeOf = createRouteOf([]);
    server = await listen('127.0.0.1', 0, (request, response) => {
      fieldsOf(response).route = routeOf(request.url ?? '');
      refuse(request, response);
    });
  });
  afterAll(() => server.stop(0));

  const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`;

  it.each([
    ['/graphql', 'application/graphql-response+json', 'application/graphql-response+json'],
    ['/GraphQL/?query=x', '*/*', 'application/json'],
    ['/graphqlx', '*/*', 'application/json'],
    ['/oauth/authorize', 'text/html', 'text/plain'],
    ['/access/v1/evaluation', 'application/json', 'text/plain'],
  ])('%s is refused in its own words', async (path, accept, type) => {
    const response = await fetch(urlOf(path), { headers: { Accept: accept } });

    expect(response.status).toBe(503);
    expect(response.headers.get('Content-Type')).toBe(`${type}; charset=utf-8`);
    const body = await response.text();
    if (type === 'text/plain') expect(body).toContain('try again later');
    else if (path === '/graphqlx') expect(JSON.parse(body)).toMatchObject({ error: 'temporarily_unavailable' });
    else expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'UNAVAILABLE' } }] });
  });

  it('has an id, a line in the log, and the headers of every answer', async () => {
    const origin = 'https://app.example.com';
    const response = await fetch(urlOf('/oauth/token'), { headers: { Origin: origin, 'X-Request-Id': 'mine-1' } });
    await response.text();

    expect(Object.fromEntries(response.headers)).toMatchObject({
      'retry-after': '2',
      'cache-control': 'no-store',
      'x-request-id': 'mine-1',
      'x-content-type-options': 'nosniff',
      'access-control-allow-origin': origin,
    });
    await until(() => lines.some((line) => line.includes('"mine-1"')));
    expect(JSON.parse(lines.find((line) => line.includes('"mine-1"')) ?? '')).toMatchObject({
      path: '/oauth/token',
      status: 503,
    });
  });

  it('has the id that a client of AuthZEN chose, whatever it is', async () => {
    for (const [path, id] of [
      ['/access/v1/evaluations', '{"mine":1}'],
      ['/graphql', 'plain'],
    ] as const) {
      const response = await fetch(urlOf(path), { headers: { 'X-Request-Id': id } });
      expect(response.headers.get('X-Request-Id')).toBe(id);
    }
  });

  it.each([
    ['http://localhost:5173', 'http://localhost:5173'],
    ['http://localhost:5173.evil.test', null],
    ['https://app.example.com.evil.test', null],
  ])('may be read by a page of %s: %s', async (origin, allowed) => {
    const { headers } = await fetch(urlOf('/graphql'), { headers: { Origin: origin } });

    expect(headers.get('Access-Control-Allow-Origin')).toBe(allowed);
  });

  it('is not read to its end when its body is large', async () => {
    const connections = await Promise.all(
      [2, 1_000_000].map(
        (length) =>
          new Promise((resolve) => {
            const sent = request(urlOf('/graphql'), { method: 'POST', headers: { 'Content-Length': length } });
            sent.once('response', (response) => {
              resolve(response.headers.connection);
              sent.destroy();
            });
            sent.on('error', () => undefined);
            sent.write('{}');
          }),
      ),
    );

    expect(connections).toEqual(['keep-alive', 'close']);
  });
});

import { connect } from 'node:net';
import express, { type RequestHandler } from 'express';
import { DatabaseUnavailable } from '../../src/database/pool/unavailable.ts';
import { createApp } from '../../src/http/app.ts';
import { type HttpServer, listen } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { until } from '../support/until.ts';

describe('what goes wrong on the way of a request', () => {
  const logs: string[] = [];
  const options = {
    log: createLog('trace', { write: (line) => logs.push(line) }),
    trustedProxies: 0,
    isHttps: false,
    corsOrigins: [],
    readiness: async () => null,
  };
  let server: HttpServer;
  let url: string;

  beforeAll(async () => {
    const fail: RequestHandler = (request) => {
      if (request.path === '/away') throw new DatabaseUnavailable();
      if (request.path === '/broken') throw new Error('select secret from users');
      request.next?.();
    };
    const app = createApp({
      ...options,
      routes: { direct: {}, mounts: [express.json({ limit: 100 }), fail], notice: () => null },
    });
    server = await listen('127.0.0.1', 0, app);
    url = `http://127.0.0.1:${server.port}`;
  });

  afterAll(() => server.stop(1000));

  it.each([
    ['a path where nothing is', '/nowhere', {}, 404, 'not_found'],
    ['a body that is no JSON', '/', { body: '{"password":"secret"' }, 400, 'bad_request'],
    ['a body that is too large', '/', { body: JSON.stringify('secret'.repeat(100)) }, 413, 'content_too_large'],
    ['a database that is away', '/away', {}, 503, 'temporarily_unavailable'],
    ['a fault of our own', '/broken', {}, 500, 'internal'],
  ])('%s', async (_what, path, { body = null }: { body?: string | null }, status, error) => {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url + path, { method: body ? 'POST' : 'GET', headers, body });

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error, error_description: expect.not.stringContaining('secret') });
  });

  it.each([
    ['/graphql', 503, { errors: [{ message: expect.any(String), extensions: { code: 'UNAVAILABLE' } }] }],
    ['/GraphQL/?query=x', 503, { errors: [{ message: expect.any(String), extensions: { code: 'UNAVAILABLE' } }] }],
    ['/oauth/token', 503, { error: 'temporarily_unavailable', error_description: expect.any(String) }],
  ])('%s has its own form before the service can serve', async (path, status, body) => {
    const starting = await listen('127.0.0.1', 0, createApp({ ...options, readiness: async () => 'x', routes: null }));
    const accept = 'application/graphql-response+json';

    const response = await fetch(`http://127.0.0.1:${starting.port}${path}`, { headers: { Accept: accept } });

    expect([response.status, response.headers.get('Retry-After')]).toEqual([status, '2']);
    expect(await response.json()).toEqual(body);
    expect(response.headers.get('Content-Type')?.startsWith(accept)).toBe('errors' in body);
    await starting.stop(0);
  });

  it('a path below that of GraphQL where nothing is has GraphQL’s form', async () => {
    const response = await fetch(`${url}/graphql/nowhere`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  });

  it('a 503 says when to come back', async () => {
    const response = await fetch(`${url}/away`);

    expect(response.headers.get('Retry-After')).toBe('2');
  });

  it('leaves no part of a body in the log', () => {
    expect(logs.join()).toContain('entity.parse.failed');
    expect(logs.join()).not.toContain('password');
  });

  it('gives a fault of our own its cause in the log, under the request’s id', async () => {
    const response = await fetch(`${url}/broken`, { headers: { 'X-Request-Id': 'my-request' } });

    expect(response.headers.get('X-Request-Id')).toBe('my-request');
    const line = logs.map((text) => JSON.parse(text)).findLast((entry) => entry.msg === 'a request failed');
    expect(line).toMatchObject({ requestId: 'my-request', error: { message: 'select secret from users' } });
  });

  it.each(['', 'two words', 'x'.repeat(101), 'line%0Abreak'])('replaces the request id %j', async (id) => {
    const response = await fetch(url, { headers: { 'X-Request-Id': id } });

    expect(response.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('logs the path of a request but not its query', async () => {
    await fetch(`${url}/somewhere?access_token=hidden`);

    expect(logs.join()).toContain('"path":"/somewhere"');
    expect(logs.join()).not.toContain('hidden');
  });

  it.each([
    ['/anchor#hidden', '/anchor'],
    ['/anchored#hidden?hidden', '/anchored'],
    ['http://user:hidden@x/proxied?hidden', '/proxied'],
    ['HTTPS://hidden@x?hidden', ''],
  ])('logs of the target %j the path alone', async (target, path) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await socket.toArray();

    await until(() => logs.join().includes(`"path":"${path}"`));
    expect(logs.join()).not.toContain('hidden');
  });
});

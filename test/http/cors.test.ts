import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

const allowed = 'https://app.example.com';
const alsoAllowed = 'http://localhost:8080';

let database: TestDatabase;
let closed: TestService;
let open: TestService;
beforeAll(async () => {
  database = await createTestDatabase();
  closed = await startTestService(database);
  open = await startTestService(database, { CORS_ORIGINS: `${allowed}, ${alsoAllowed}` });
});
afterAll(async () => {
  await closed.stop();
  await open.stop();
  await database.drop();
});

/** The headers by which a browser decides. */
function accessOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
}

const paths = ['/graphql', '/access/v1/evaluation', '/oauth/token', '/.well-known/oauth-authorization-server'];

const requestHeaders = 'apollo-require-preflight,authorization,content-type,idempotency-key,traceparent,x-request-id';

const preflight = (url: string, origin: string) =>
  fetch(url, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': requestHeaders,
    },
  });
const post = (url: string, origin: string) =>
  fetch(url, {
    method: 'POST',
    headers: { Origin: origin, 'Content-Type': 'application/json' },
    body: '{"query":"{ app { name } }"}',
  });

describe.each(paths)('%s', (path) => {
  it.each([allowed, alsoAllowed])('lets a page of %s ask and read', async (origin) => {
    const asked = await preflight(open.url + path, origin);
    expect(asked.status).toBe(204);
    expect(accessOf(asked)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET,POST,DELETE',
      'access-control-allow-headers': requestHeaders,
      'access-control-expose-headers': 'Idempotency-Replayed,Retry-After,WWW-Authenticate,X-Request-Id',
      'access-control-max-age': '600',
    });

    const answer = await post(open.url + path, origin);
    expect(accessOf(answer)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Idempotency-Replayed,Retry-After,WWW-Authenticate,X-Request-Id',
    });
  });

  it.each([
    'https://evil.test',
    'https://app.example.com.evil.test',
    'https://evil.test/https://app.example.com',
    'https://app.example.co',
    'https://APP.example.com:443',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://sub.app.example.com',
    'null',
    '*',
  ])('lets no page of %s read', async (origin) => {
    for (const answer of [await preflight(open.url + path, origin), await post(open.url + path, origin)])
      expect(accessOf(answer)['access-control-allow-origin']).toBeUndefined();
  });

  it('says to caches that the answer depends on the origin, allowed or not', async () => {
    for (const origin of [allowed, 'https://evil.test'])
      expect((await post(open.url + path, origin)).headers.get('Vary')).toMatch(/\bOrigin\b/);
  });

  it('lets no page read at all unless an operator names its origin', async () => {
    for (const origin of [allowed, alsoAllowed, closed.url, 'null'])
      for (const answer of [await preflight(closed.url + path, origin), await post(closed.url + path, origin)])
        expect(accessOf(answer)).toEqual({});
  });

  it('asks for no cookies', async () => {
    for (const answer of [await preflight(open.url + path, allowed), await post(open.url + path, allowed)])
      expect(answer.headers.has('Access-Control-Allow-Credentials')).toBe(false);
  });
});

it('does not open other paths', async () => {
  for (const path of ['/', '/healthz', '/readyz', '/graphiql', '/nothing'])
    expect(accessOf(await fetch(open.url + path, { headers: { Origin: allowed } }))).toEqual({});
});

it('takes the token of an allowed page for no more than it is', async () => {
  const headers = { Origin: allowed, Authorization: 'Bearer unknown', 'Content-Type': 'application/json' };

  const answer = await fetch(`${open.url}/graphql`, { method: 'POST', headers, body: '{"query":"{ app { name } }"}' });

  expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([401, allowed]);
});

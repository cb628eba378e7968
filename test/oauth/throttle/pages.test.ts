import { createHash } from 'node:crypto';
import { only, redirectUri, requestOf, Visitor } from '../authorizeSupport.ts';
import {
  asClient,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  startOauthTest,
  type TestApplication,
} from '../support.ts';
import { from, limits, newAddress, times } from './support.ts';

// The throttles at the pages for signing in, and the table in which they count.

let oauth: OwnOauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await startOauthTest({ ...limits, TRUST_PROXY: '1' });
});
beforeEach(async () => {
  application = await createApplication(oauth, { scopes: ['app', 'me'] });
});
afterAll(() => oauth.stop());

const ask = (address: string, secret = application.secret) =>
  from(address, oauth, '/oauth/token', {
    form: { grant_type: 'client_credentials', ...asClient({ ...application, secret }) },
  });

const askWrongly = (address: string) => ask(address, 'wrong');

describe('the pages for signing in', () => {
  async function open(address: string) {
    const client = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
    const visitor = new Visitor(oauth);
    const headers = { 'X-Forwarded-For': address };
    const page = await visitor.open(requestOf(client), headers);
    const signIn = (username: string, secret: string, more: Record<string, string> = {}) =>
      visitor.submit(only(page.forms), { username, password: secret }, { ...headers, ...more });
    return { visitor, client, signIn, open: () => visitor.open(requestOf(client), headers) };
  }

  it('say as a page or as JSON that there were too many failures', async () => {
    const user = await createUser(oauth);
    const { signIn } = await open(newAddress());
    for (const name of ['a', 'b', 'c', 'd']) expect((await signIn(`${name}@example.test`, 'wrong')).status).toBe(400);

    const page = await signIn(user.email, user.password);
    const json = await signIn(user.email, user.password, { Accept: 'application/json' });

    for (const visit of [page, json]) {
      expect(visit.status).toBe(429);
      expect(visit.headers.get('Retry-After')).toMatch(/^\d+$/);
      expect(visit.headers.get('Cache-Control')).toBe('no-store');
      expect(visit.headers.get('Set-Cookie')).toBeNull();
    }
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
    expect(JSON.parse(json.text).error).toBe('too_many_requests');
    const elsewhere = await open(newAddress());
    expect((await elsewhere.signIn(user.email, user.password)).status).toBe(303);
  });

  it('count requests, too', async () => {
    const { open: reload } = await open(newAddress());

    const visits = await times(10, reload);

    expect(visits.map(({ status }) => status)).toEqual([...Array(9).fill(200), 429]);
  });

  it('share the failures of an account with the token endpoint, and say that there were too many', async () => {
    const address = newAddress();
    const user = await createUser(oauth);
    const { signIn } = await open(address);
    expect((await signIn(user.email, 'wrong')).status).toBe(400);
    const form = { grant_type: 'password', username: user.email, password: 'wrong', ...asClient(application) };
    expectRefusal(await from(address, oauth, '/oauth/token', { form }), 400, 'invalid_grant');

    const locked = await signIn(user.email, user.password);

    expect(locked.status).toBe(429);
    expect(Number(locked.headers.get('Retry-After'))).toBeGreaterThan(60);
    expect(locked.text).toContain('Too many tries');
    expect(locked.text).toContain('Wait for a few minutes before you try again.');
    expect(locked.text).not.toContain('is wrong');
    expect(locked.headers.get('Location')).toBeNull();
    const elsewhere = await open(newAddress());
    expect((await elsewhere.signIn(user.email, user.password)).status).toBe(303);
  });
});

test('the table holds no address, account or client in clear, nor a hash that can be guessed', async () => {
  const address = '198.51.100.77';
  const user = await createUser(oauth);
  await ask(address);
  const form = { grant_type: 'password', username: user.email, password: 'wrong', ...asClient(application) };
  await from(address, oauth, '/oauth/token', { form });

  const { rows } = await oauth.database.owner.query('select t::text as row from oauth.throttles t');
  const dump = rows.map(({ row }) => row).join('\n');

  const kinds = ['requests_of_address', 'requests_of_client', 'failures_of_address', 'failures_of_account'];
  for (const kind of kinds) expect(dump).toContain(`${kind}:`);
  for (const secret of [address, user.email, user.id, application.clientId, application.id]) {
    expect(dump).not.toContain(secret);
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      expect(dump).not.toContain(createHash('sha256').update(secret).digest(encoding));
    }
  }
});

test('no one signs in while tries cannot be counted: 503', async () => {
  const address = newAddress();
  expectTokens(await ask(address), 'app');
  const { owner } = oauth.database;

  await owner.query('revoke insert on oauth.throttles from graph_oauth');
  const uncounted = await ask(newAddress());
  const failed = await askWrongly(newAddress());
  await owner.query('grant insert on oauth.throttles to graph_oauth');

  for (const answer of [uncounted, failed]) {
    expectRefusal(answer, 503, 'temporarily_unavailable');
    expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
  }
  expectTokens(await ask(address), 'app');
});

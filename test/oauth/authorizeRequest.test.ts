import { answerOf, createPkce, redirectUri, requestOf, type Visit, Visitor } from './authorizeSupport.ts';
import {
  createApplication,
  createUser,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  type TestUser,
} from './support.ts';

// Authorization requests that the server refuses before it shows a page, and how.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});

const open = (request: Record<string, string>, headers: Record<string, string> = {}) =>
  new Visitor(oauth).open(request, headers);

const query = (text: string) => new Visitor(oauth).get(`/oauth/authorize?${text}`);

const valid = () => requestOf(application);

const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(valid()).filter(([name]) => !names.includes(name)));

/** A page for the person: no way to anywhere, nothing to keep, nothing to frame. */
function expectPage(visit: Visit, status: number): void {
  expect({ status: visit.status, location: visit.headers.get('Location') }).toEqual({ status, location: null });
  expect(visit.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  expect(visit.headers.get('Cache-Control')).toBe('no-store');
  expect(visit.headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(visit.headers.get('Content-Security-Policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(visit.headers.get('X-Content-Type-Options')).toBe('nosniff');
  expect(visit.headers.get('X-Frame-Options')).toBe('DENY');
  // A window that a client has opened stays in its hands.
  expect(visit.headers.get('Cross-Origin-Opener-Policy')).toBe('unsafe-none');
  expect(visit.headers.get('WWW-Authenticate')).toBeNull();
}

test('a request that is in order gets the sign-in page', async () => {
  const page = await open(valid());

  expectPage(page, 200);
  expect(page.text).toContain('name="username"');
  expect(page.text).toContain('name="password"');
  expect(page.forms[0]?.fields).toEqual({ csrf_token: expect.stringMatching(/^[\w-]{43}$/) });
});

test('an unknown client, and an address that it has not registered, are refused on a page for the person', async () => {
  const disabled = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  await oauth.database.owner.query('update oauth.applications set disabled_at = now() where id = $1', [disabled.id]);
  for (const request of [
    {},
    without('client_id'),
    { ...valid(), client_id: 'nobody' },
    { ...valid(), client_id: 'x'.repeat(5000) },
    requestOf(disabled),
    without('redirect_uri'),
    { ...valid(), redirect_uri: 'https://evil.example.test/callback' },
    // The rest being wrong, too, redirects no one.
    { ...without('response_type'), redirect_uri: 'https://evil.example.test/' },
  ]) {
    expectPage(await open(request), 400);
    const json = await open(request, { Accept: 'application/json' });
    expect({ status: json.status, ...JSON.parse(json.text) }).toEqual({
      status: 400,
      error: 'invalid_request',
      error_description: expect.any(String),
    });
  }
});

test('the address must be the registered one, character by character', async () => {
  for (const uri of [
    `${redirectUri}/`,
    `${redirectUri}?x=1`,
    `${redirectUri}#x`,
    redirectUri.toUpperCase(),
    redirectUri.replace('https', 'http'),
    redirectUri.replace('/callback', ':443/callback'),
    redirectUri.replace('/callback', '/%63allback'),
    redirectUri.replace('/callback', '/x/../callback'),
    redirectUri.replace('https://', 'https://user@'),
    ` ${redirectUri}`,
    `${redirectUri}%00`,
    'javascript:alert(1)',
    '//client.example.test/callback',
  ]) {
    expectPage(await open({ ...valid(), redirect_uri: uri }), 400);
  }
});

test('of a loopback IP, and of nothing else, the port may differ', async () => {
  const native = await createApplication(oauth, {
    scopes: ['me'],
    confidential: false,
    redirectUris: [
      'http://127.0.0.1/callback',
      'http://[::1]:7000/callback?x=1',
      'http://localhost/callback',
      'https://127.0.0.1/tls',
    ],
  });
  const openAt = (redirect_uri: string) => open({ ...requestOf(native), redirect_uri });

  for (const uri of [
    'http://127.0.0.1/callback',
    'http://127.0.0.1:1/callback',
    'http://127.0.0.1:65535/callback',
    'http://[::1]/callback?x=1',
    'http://[::1]:8080/callback?x=1',
    'http://localhost/callback',
    'https://127.0.0.1/tls',
  ]) {
    expectPage(await openAt(uri), 200);
  }
  for (const uri of [
    'http://127.0.0.1:65536/callback',
    'http://127.0.0.1:/callback',
    'http://127.0.0.1:80@evil.example.test/callback',
    'http://127.0.0.1:80.evil.example.test/callback',
    'http://127.0.0.1.evil.example.test/callback',
    'http://user@127.0.0.1:80/callback',
    'http://127.0.0.1:80/other',
    'http://127.0.0.1:80/callback?x=1',
    'http://127.0.0.2/callback',
    'http://[::1]:8080/callback',
    'http://localhost:8080/callback',
    'https://127.0.0.1:8443/tls',
    'https://127.0.0.1/callback',
  ]) {
    expectPage(await openAt(uri), 400);
  }
});

test('everything else is reported to the client, with its state and our name', async () => {
  const refusals: [Record<string, string>, string][] = [
    [without('response_type'), 'invalid_request'],
    [{ ...valid(), response_type: 'token' }, 'unsupported_response_type'],
    [{ ...valid(), response_type: 'code token' }, 'unsupported_response_type'],
    [{ ...valid(), response_mode: 'fragment' }, 'invalid_request'],
    [without('code_challenge'), 'invalid_request'],
    [without('code_challenge', 'code_challenge_method'), 'invalid_request'],
    [without('code_challenge_method'), 'invalid_request'],
    [{ ...valid(), code_challenge_method: 'plain' }, 'invalid_request'],
    [{ ...valid(), code_challenge_method: 's256' }, 'invalid_request'],
    [{ ...valid(), code_challenge: 'x'.repeat(42) }, 'invalid_request'],
    [{ ...valid(), code_challenge: `${'x'.repeat(43)}=` }, 'invalid_request'],
    [{ ...valid(), code_challenge: `${'x'.repeat(42)}+` }, 'invalid_request'],
    [{ ...valid(), scope: 'app' }, 'invalid_scope'],
    [{ ...valid(), scope: 'me app' }, 'invalid_scope'],
    [{ ...valid(), scope: 'me me' }, 'invalid_scope'],
    [{ ...valid(), scope: 'openid' }, 'invalid_scope'],
    [{ ...valid(), scope: ' ' }, 'invalid_scope'],
  ];
  for (const [request, error] of refusals) {
    expect(answerOf(await open(request))).toEqual({
      error,
      error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
      state: 'state of the client',
      iss: oauth.url,
    });
  }
});

test('who takes JSON is given the same address in JSON', async () => {
  const answer = await open({ ...valid(), scope: 'app' }, { Accept: 'application/json' });

  expect(answer.status).toBe(200);
  const { redirect_uri, ...rest } = JSON.parse(answer.text);
  expect(rest).toEqual({ status: 'redirect' });
  expect(redirect_uri).toMatch(/^https:\/\/client\.example\.test\/callback\?error=invalid_scope&/);
});

test('an application without scope me cannot ask people', async () => {
  const backend = await createApplication(oauth, { scopes: ['app'], redirectUris: [redirectUri] });
  const { scope, ...unscoped } = requestOf(backend);

  expect(answerOf(await open(unscoped))).toMatchObject({ error: 'unauthorized_client' });
  expect(answerOf(await open({ ...unscoped, scope }))).toMatchObject({ error: 'invalid_scope' });
});

test('a scope that is left out or empty is all that there is', async () => {
  expectPage(await open(without('scope')), 200);
  expectPage(await open({ ...valid(), scope: '' }), 200);
});

test('a state comes back as it was, whatever it is, and none when there was none', async () => {
  for (const state of ['a b+c&d=e#f%', 'ä€😀', '"<script>', 'x'.repeat(4000)]) {
    expect(answerOf(await open({ ...valid(), state, scope: 'app' })).state).toBe(state);
  }
  expect(answerOf(await open({ ...without('state'), scope: 'app' }))).not.toHaveProperty('state');
});

test("an answer is added to the address's own query, and to one of a private-use scheme", async () => {
  const uris = ['https://client.example.test/cb?tenant=1', 'com.example.app:/callback'];
  const client = await createApplication(oauth, { scopes: ['me'], redirectUris: uris });

  for (const uri of uris) {
    const answer = await open({ ...requestOf(client), redirect_uri: uri, scope: 'app' });
    expect(answerOf(answer, uri)).toMatchObject({ error: 'invalid_scope', iss: oauth.url });
  }
});

test('a repeated or bracketed parameter is refused: of the address to the person, else to the client', async () => {
  const encoded = new URLSearchParams(valid()).toString();

  for (const name of ['client_id', 'redirect_uri']) {
    for (const extra of [`${name}=x`, `${name}=`, `${name}[]=x`, `${name}[0]=x`, `${name}%5B%5D=x`]) {
      expectPage(await query(`${encoded}&${extra}`), 400);
      expectPage(await query(`${extra}&${encoded}`), 400);
    }
  }
  for (const name of ['response_type', 'scope', 'code_challenge', 'code_challenge_method']) {
    for (const extra of [`${name}=x`, `${name}[]=x`]) {
      const answer = answerOf(await query(`${encoded}&${extra}`));
      expect(answer).toMatchObject({ error: 'invalid_request', state: 'state of the client', iss: oauth.url });
    }
  }
  const twoStates = answerOf(await query(`${encoded}&state=other`));
  expect(twoStates).toEqual({ error: 'invalid_request', error_description: expect.any(String), iss: oauth.url });
  expectPage(await query(`${encoded}&x=1&x=2&y[]=3&__proto__=1&toString=1&&=`), 200);
});

test('what is not UTF-8, and U+0000, is refused wherever it is', async () => {
  const encoded = new URLSearchParams(valid()).toString();

  for (const broken of ['x=%ff', 'x=%c3%28', 'x=%zz', 'x=%00', '%00=x', 'state=%ed%a0%80', 'client_id=%00']) {
    expectPage(await query(`${encoded}&${broken}`), 400);
  }
});

test('a credential in the address is refused', async () => {
  const encoded = new URLSearchParams(valid()).toString();

  for (const name of ['username', 'password', 'client_secret', 'code', 'code_verifier', 'password[]']) {
    expectPage(await query(`${encoded}&${name}=x`), 400);
  }
});

test('a body must be a form of at most 56 KiB', async () => {
  const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
    new Visitor(oauth).send(path, { method: 'POST', headers: { 'Content-Type': type }, body });
  const encoded = new URLSearchParams(valid()).toString();

  for (const path of ['/oauth/authorize', '/oauth/sign-in', '/oauth/sign-out']) {
    expectPage(await post(path, `${encoded}&x=%ff`), 400);
    expectPage(await post(path, JSON.stringify(valid()), 'application/json'), 400);
    expectPage(await post(path, `${encoded}&x=`.padEnd(56 * 1024 + 1, 'x')), 413);
    // Valid, but without a consent screen.
    expectPage(await post(path, encoded), 403);
    expectPage(await post(path, `${encoded}&x=`.padEnd(56 * 1024, 'x')), 403);
    expectPage(await post(path, `${encoded}&csrf_token=a&csrf_token=b`), 400);
    expectPage(await post(path, `${encoded}&csrf_token[]=a`), 400);
  }
});

test('other methods get 405 with what is allowed', async () => {
  for (const [path, allow] of [
    ['/oauth/authorize', 'GET, HEAD, POST, DELETE'],
    ['/oauth/sign-in', 'POST'],
    ['/oauth/sign-out', 'POST'],
  ] as const) {
    const answer = await new Visitor(oauth).send(path, { method: 'PUT' });
    expectPage(answer, 405);
    expect(answer.headers.get('Allow')).toBe(allow);
  }
});

test('a POST or DELETE of a client that takes anything is refused in JSON, that of a browser by a page', async () => {
  for (const method of ['POST', 'DELETE', 'PUT']) {
    const answer = await new Visitor(oauth).send('/oauth/authorize', { method, headers: { Accept: '*/*' } });
    expect(answer.headers.get('Content-Type')).toBe('application/json; charset=utf-8');
    expect(JSON.parse(answer.text)).toEqual({ error: 'invalid_request', error_description: expect.any(String) });
    expectPage(await new Visitor(oauth).send('/oauth/authorize', { method }), answer.status);
  }
  expectPage(await new Visitor(oauth).get('/oauth/authorize', { Accept: '*/*' }), 400);
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(valid(), user);
  expect(answerOf(await visitor.submit(approval, {}, { Accept: '*/*' }))).toHaveProperty('code');
});

test('a page with a csrf_token is never compressed', async () => {
  const headers = { 'Accept-Encoding': 'gzip, br' };
  const { text, headers: received } = await new Visitor(oauth).open(valid(), headers);

  expect(text).toContain('name="csrf_token"');
  expect(received.has('Content-Encoding')).toBe(false);
  const asset = /href="(\/assets[^"]+)"/.exec((await new Visitor(oauth).get('/', headers)).text)?.[1] ?? '';
  expect((await new Visitor(oauth).get(asset, headers)).headers.get('Content-Encoding')).toBe('gzip');
});

test('every method validates again', async () => {
  const visitor = new Visitor(oauth);
  const { approval, denial } = await visitor.signIn(valid(), user);
  const [path = '', text = ''] = approval.action.split('?');
  const changed = (change: Record<string, string>) =>
    `${path}?${new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(text)), ...change })}`;

  for (const form of [approval, denial]) {
    expectPage(await visitor.submit({ ...form, action: changed({ client_id: 'nobody' }) }), 400);
    expectPage(await visitor.submit({ ...form, action: changed({ redirect_uri: 'https://evil.example.test' }) }), 400);
    const answer = await visitor.submit({ ...form, action: changed({ scope: 'app' }) });
    expect(answerOf(answer)).toMatchObject({ error: 'invalid_scope' });
    // In order, but not what the person was shown.
    for (const change of [{ state: 'other' }, { code_challenge: createPkce().challenge }]) {
      expectPage(await visitor.submit({ ...form, action: changed(change) }), 403);
    }
  }
  expect(answerOf(await visitor.submit(approval))).toHaveProperty('code');
});

test('JSON callers get the details of the request', async () => {
  const visitor = new Visitor(oauth);
  const request = valid();
  const details = {
    client_id: application.clientId,
    client_name: 'Application',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'me',
    state: 'state of the client',
    csrf_token: expect.any(String),
  };
  const json = { Accept: 'application/json' };

  const before = await visitor.open(request, json);
  expect(JSON.parse(before.text)).toEqual({ status: 'sign_in', ...details });
  await visitor.signIn(request, user);
  const after = await visitor.open(request, json);
  expect(JSON.parse(after.text)).toEqual({ status: 'consent', ...details });
  expect(after.headers.get('Cache-Control')).toBe('no-store');
});

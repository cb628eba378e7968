import { answerOf, expectPage, redirectUri, requestOf, shareAuthorization, Visitor } from './authorizeSupport.ts';
import { createApplication, type OauthTest, type TestApplication, type TestUser } from './support.ts';

// Authorization requests that the server refuses before it shows a page, and how.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  ({ oauth, application, user } = await shareAuthorization());
});

const open = (request: Record<string, string>, headers: Record<string, string> = {}) =>
  new Visitor(oauth).open(request, headers);

const valid = () => requestOf(application);

const without = (...names: string[]) =>
  Object.fromEntries(Object.entries(valid()).filter(([name]) => !names.includes(name)));

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

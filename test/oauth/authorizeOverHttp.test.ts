import { answerOf, createPkce, expectPage, requestOf, shareAuthorization, Visitor } from './authorizeSupport.ts';
import type { OauthTest, TestApplication, TestUser } from './support.ts';

// How a request for authorization is sent: its encoding, method and media types.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  ({ oauth, application, user } = await shareAuthorization());
});

const query = (text: string) => new Visitor(oauth).get(`/oauth/authorize?${text}`);

const valid = () => requestOf(application);

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

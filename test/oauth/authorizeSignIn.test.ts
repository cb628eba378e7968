import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import {
  answerOf,
  expectForbidden,
  type Form,
  only,
  redirectUri,
  requestOf,
  sessionsOf,
  shareAuthorization,
  Visitor,
} from './authorizeSupport.ts';
import {
  createApplication,
  createOrganization,
  createUser,
  type OauthTest,
  startOauthTest,
  type TestApplication,
  type TestUser,
} from './support.ts';

// The form by which a person signs in, and the cookies that the browser is given.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  ({ oauth, application, user } = await shareAuthorization());
});

const json = { Accept: 'application/json' };

const sessions = (person = user) => sessionsOf(oauth, person);

async function signInForm(visitor: Visitor, request = requestOf(application)): Promise<Form> {
  return only((await visitor.open(request)).forms);
}

test('signing in gives the browser a cookie that scripts and other sites do not get, and says nothing else', async () => {
  const visitor = new Visitor(oauth);
  const form = await signInForm(visitor);

  const answer = await visitor.submit(form, { username: user.email.toUpperCase(), password: user.password });

  expect(answer.headers.get('Location')).toMatch(/^\/oauth\/authorize\?response_type=code&client_id=/);
  expect(answer.text).toBe('');
  const [cookie = ''] = answer.headers.getSetCookie().filter((text) => text.startsWith('gqs_session='));
  expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax$/);
});

test('a double click on signing in, and on signing out, leads where one click leads', async () => {
  const visitor = new Visitor(oauth);
  const person = await createUser(oauth);
  const form = await signInForm(visitor);
  const typed = { username: person.email, password: person.password };

  const signedIn = await Promise.all([visitor.submit(form, typed), visitor.submit(form, typed)]);
  const [path = '', ...others] = new Set(signedIn.map(({ headers }) => headers.get('Location') ?? ''));
  const { signOut } = await visitor.consent(path);
  const signedOut = await Promise.all([visitor.submit(signOut), visitor.submit(signOut)]);

  expect(others).toEqual([]);
  expect(signedOut.map(({ status, headers }) => [status, headers.get('Location')])).toEqual([
    [303, path],
    [303, path],
  ]);
  expect((await visitor.get(path)).forms).toHaveLength(1);
});

test('over https the cookies are bound to the host and never sent without encryption', async () => {
  const port = await freePort();
  const https = await startOauthTest({ PUBLIC_URL: 'https://graph.example.test/base', PORT: String(port) });
  const client = await createApplication(https, { scopes: ['me'], redirectUris: [redirectUri] });
  const person = await createUser(https);
  const visitor = new Visitor({ url: `http://127.0.0.1:${port}` });

  const page = await visitor.open(requestOf(client));
  const form = only(page.forms);
  const action = form.action.replace('/base/', '/');
  const answer = await visitor.submit({ ...form, action }, { username: person.email, password: person.password });

  expect(form.action).toMatch(/^\/base\/oauth\/sign-in\?/);
  expect(answer.headers.get('Location')).toMatch(/^\/base\/oauth\/authorize\?/);
  const cookies = [...page.headers.getSetCookie(), ...answer.headers.getSetCookie()];
  expect(cookies.map((text) => text.split('=', 1)[0])).toEqual(['__Host-gqs_browser', '__Host-gqs_session']);
  for (const cookie of cookies) expect(cookie).toMatch(/; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  await https.stop();
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a person who is unknown, disabled, without a password or with a wrong one gets the same page', async () => {
  const disabled = await createUser(oauth, { disabled: true });
  const without = await createUser(oauth, { password: null });
  const foreign = await createUser(oauth, { organizationId: await createOrganization(oauth.database) });
  const visitor = new Visitor(oauth);
  const form = await signInForm(visitor);

  const pages: string[] = [];
  for (const [username, password] of [
    [user.email, 'wrong'],
    [user.email, ''],
    ['nobody@example.test', user.password],
    ['', ''],
    [disabled.email, disabled.password],
    [without.email, ''],
    [without.email, 'x'],
    [foreign.email, foreign.password],
    [`${user.email}'--`, user.password],
    ['"><script>alert(1)</script>', 'x'],
    ['x'.repeat(10_000), 'x'.repeat(10_000)],
  ] as const) {
    const page = await visitor.submit(form, { username, password });
    expect(page.status).toBe(400);
    expect(page.text).not.toContain('<script');
    expect(page.headers.getSetCookie()).toEqual([]);
    pages.push(page.text.replace(/ value="[^"]*"/g, '').replaceAll(' autofocus', ''));
  }

  expect(new Set(pages).size).toBe(1);
  expect(pages[0]).toContain('The e-mail address or the password is wrong.');
  const answer = await visitor.submit(form, { username: user.email, password: 'wrong' }, json);
  expect({ status: answer.status, ...JSON.parse(answer.text) }).toEqual({
    status: 400,
    error: 'invalid_grant',
    error_description: 'The e-mail address or the password is wrong.',
  });
});

test('a form to sign in is good in the browser that was given it only', async () => {
  const mine = new Visitor(oauth);
  const theirs = new Visitor(oauth);
  const form = await signInForm(mine);
  const credentials = { username: user.email, password: user.password };
  const other = await signInForm(theirs);
  const before = (await sessions()).length;

  expectForbidden(await new Visitor(oauth).submit(form, credentials));
  expectForbidden(await theirs.submit(form, credentials));
  for (const csrf_token of ['', 'x', 'x'.repeat(43), 'ä'.repeat(43), other.fields.csrf_token ?? '']) {
    expectForbidden(await mine.submit(form, { ...credentials, csrf_token }));
  }
  expectForbidden(await mine.submit({ ...form, fields: {} }, credentials));
  const answer = await mine.submit({ ...form, fields: {} }, credentials, json);
  expect({ status: answer.status, ...JSON.parse(answer.text) }).toMatchObject({
    status: 403,
    error: 'invalid_request',
  });

  expect(await sessions()).toHaveLength(before);
  expect((await mine.submit(form, credentials)).status).toBe(303);
});

test('nothing that a person typed or was given is logged', async () => {
  const visitor = new Visitor(oauth);
  const form = await signInForm(visitor);
  await visitor.submit(form, { username: 'typed-name', password: 'typed-password' });
  const { approval } = await visitor.signIn(requestOf(application), user);
  const { code = '' } = answerOf(await visitor.submit(approval));

  const log = oauth.logs.join('\n');
  expect(log).toContain('/oauth/sign-in');
  const cookies = [...visitor.cookies.values()];
  for (const secret of ['typed-name', 'typed-password', user.password, code, approval.fields.csrf_token, ...cookies]) {
    expect(secret).not.toBe('');
    expect(log).not.toContain(secret);
  }
});

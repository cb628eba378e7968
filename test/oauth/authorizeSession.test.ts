import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { hashToken } from '../../src/token/format.ts';
import { answerOf, type Form, only, redirectUri, requestOf, type Visit, Visitor } from './authorizeSupport.ts';
import {
  createApplication,
  createOrganization,
  createUser,
  type OwnOauthTest,
  startOauthTest,
  type TestApplication,
  type TestUser,
} from './support.ts';

// Sessions of the sign-in pages: the person who is signed in, and the consent that counts.

let oauth: OwnOauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  oauth = await startOauthTest();
  application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});
afterAll(() => oauth.stop());

const json = { Accept: 'application/json' };

const sessions = async (person = user) =>
  (await oauth.database.owner.query('select sid from oauth.sessions where user_id = $1', [person.id])).rows;

const codes = async (person = user) =>
  (await oauth.database.owner.query('select from oauth.authorization_codes where user_id = $1', [person.id])).rowCount;

function expectForbidden(visit: Visit): void {
  expect({ status: visit.status, location: visit.headers.get('Location') }).toEqual({ status: 403, location: null });
  expect(visit.headers.get('Cache-Control')).toBe('no-store');
}

const isSignInPage = (page: Visit) => page.text.includes('name="password"');

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

test('a session begins at sign-in, under an id that the browser did not have before', async () => {
  const visitor = new Visitor(oauth);
  const person = await createUser(oauth);
  await visitor.signIn(requestOf(application), person);
  const first = visitor.cookies.get('gqs_session');

  const form = await signInForm(new Visitor(oauth), requestOf(application));
  const browser = new Visitor(oauth);
  await browser.open(requestOf(application));
  expect(browser.cookies.has('gqs_session')).toBe(false);
  expect(form.action).toContain('/oauth/sign-in');

  // Signing in again, over a page that was opened before.
  const before = await new Visitor(oauth).open(requestOf(application));
  const again = new Visitor(oauth);
  for (const [name, value] of visitor.cookies) again.cookies.set(name, value);
  const token = only((await sessionlessForm(again)).forms).fields.csrf_token ?? '';
  const answer = await again.submit(
    { action: only(before.forms).action, fields: { csrf_token: token } },
    { username: person.email, password: person.password },
  );

  expect(answer.status).toBe(303);
  expect(again.cookies.get('gqs_session')).not.toBe(first);
  expect(await sessions(person)).toHaveLength(1);
  expect(isSignInPage(await visitor.open(requestOf(application)))).toBe(true);
});

/** The sign-in page, opened by a browser that leaves its session out this time. */
async function sessionlessForm(visitor: Visitor): Promise<Visit> {
  const session = visitor.cookies.get('gqs_session') ?? '';
  visitor.cookies.delete('gqs_session');
  const page = await visitor.open(requestOf(application));
  visitor.cookies.set('gqs_session', session);
  return page;
}

test('opening pages without signing in stores nothing', async () => {
  const count = async () =>
    (
      await oauth.database.owner.query(
        'select (select count(*) from oauth.sessions), (select count(*) from oauth.consents)',
      )
    ).rows;
  const before = await count();

  await new Visitor(oauth).open(requestOf(application));

  expect(await count()).toEqual(before);
});

test('a session that was made up, changed, or has ended is none', async () => {
  const visitor = new Visitor(oauth);
  const person = await createUser(oauth);
  await visitor.signIn(requestOf(application), person);
  const cookie = visitor.cookies.get('gqs_session') ?? '';

  for (const forged of [
    '',
    'x',
    `${cookie}x`,
    cookie.replace(/.$/, ''),
    `s%3A${oauth.organizationId}.x`,
    '%',
    'j:{}',
  ]) {
    visitor.cookies.set('gqs_session', forged);
    const page = await visitor.open(requestOf(application));
    expect({ forged, status: page.status, signIn: isSignInPage(page) }).toEqual({ forged, status: 200, signIn: true });
  }
  visitor.cookies.set('gqs_session', cookie);
  expect(isSignInPage(await visitor.open(requestOf(application)))).toBe(false);
  await oauth.database.owner.query('update oauth.sessions set expire = now() where user_id = $1', [person.id]);
  expect(isSignInPage(await visitor.open(requestOf(application)))).toBe(true);
});

test('a session ends after 8 hours, however busy', async () => {
  const visitor = new Visitor(oauth);
  const person = await createUser(oauth);
  await visitor.signIn(requestOf(application), person);
  const remaining = async () =>
    (
      await oauth.database.owner.query(
        `select round(extract(epoch from expire - now()) / 60)::int as minutes from oauth.sessions where user_id = $1`,
        [person.id],
      )
    ).rows;

  expect(await remaining()).toEqual([{ minutes: 480 }]);
  await oauth.database.owner.query(
    `update oauth.sessions set expire = expire - interval '7 hours' where user_id = $1`,
    [person.id],
  );
  expect(isSignInPage(await visitor.open(requestOf(application)))).toBe(false);
  expect(await remaining()).toEqual([{ minutes: 60 }]);
});

test('a person who is disabled or deleted is signed out with the next request, and cannot allow anything', async () => {
  const { owner } = oauth.database;
  for (const end of [
    'update oauth.credentials set disabled_at = now() where user_id = $1',
    'delete from app_public.users where id = $1',
  ]) {
    const person = await createUser(oauth);
    const visitor = new Visitor(oauth);
    const { approval } = await visitor.signIn(requestOf(application), person);

    await owner.query(end, [person.id]);

    expectForbidden(await visitor.submit(approval));
    expect(isSignInPage(await visitor.open(requestOf(application)))).toBe(true);
    expect(await codes(person)).toBe(0);
  }
});

test('a session is no sign-in to an application of another organization', async () => {
  const organizationId = await createOrganization(oauth.database);
  const foreign = await createApplication(oauth, { organizationId, scopes: ['me'], redirectUris: [redirectUri] });
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(requestOf(application), user);

  const page = await visitor.open(requestOf(foreign));
  expect(isSignInPage(page)).toBe(true);
  const action = approval.action.replace(application.clientId, foreign.clientId);
  expectForbidden(await visitor.submit({ ...approval, action }));
  expect(answerOf(await visitor.submit(approval))).toHaveProperty('code');

  // Signing in there ends the session here.
  const person = await createUser(oauth, { organizationId });
  await visitor.signIn(requestOf(foreign), person);
  expect(isSignInPage(await visitor.open(requestOf(application)))).toBe(true);
});

test('the person is asked each time, and sees who asks and who is asked', async () => {
  const visitor = new Visitor(oauth);
  const first = await visitor.signIn(requestOf(application), user);
  expect(answerOf(await visitor.submit(first.approval))).toHaveProperty('code');

  const second = await visitor.open(requestOf(application));

  expect(second.forms).toHaveLength(3);
  expect(second.text).toContain('<strong>Application</strong>');
  expect(second.text).toContain('Ada Lovelace');
  expect(second.text).toContain(user.email);
  expect(second.text).toContain('client.example.test');
});

test('denying sends the person back without a code, by form and by DELETE', async () => {
  const visitor = new Visitor(oauth);
  const byForm = await visitor.signIn(requestOf(application), user);
  const byMethod = await visitor.consent(`/oauth/authorize?${new URLSearchParams(requestOf(application))}`);
  const byJson = await visitor.consent(`/oauth/authorize?${new URLSearchParams(requestOf(application))}`);
  const before = await codes();
  const denied = {
    error: 'access_denied',
    error_description: expect.any(String),
    state: 'state of the client',
    iss: oauth.url,
  };
  const sendDelete = (form: Form, headers = {}) =>
    visitor.send(form.action, { method: 'DELETE', headers, body: new URLSearchParams(form.fields) });

  expect(byForm.denial.fields._method).toBe('delete');
  expect(answerOf(await visitor.submit(byForm.denial))).toEqual(denied);
  expect(answerOf(await sendDelete(byMethod.approval))).toEqual(denied);
  const answer = await sendDelete(byJson.approval, json);
  expect({ status: answer.status, ...JSON.parse(answer.text) }).toEqual({
    status: 'redirect',
    redirect_uri: expect.stringMatching(/^https:\/\/client\.example\.test\/callback\?error=access_denied&/),
  });
  expect(answer.status).toBe(200);
  expect(await codes()).toBe(before);
  // Afterwards it cannot be allowed either.
  for (const { approval } of [byForm, byMethod, byJson]) expectForbidden(await visitor.submit(approval));
});

test('JSON callers approve with the parameters in the body, too', async () => {
  const visitor = new Visitor(oauth);
  const request = requestOf(application);
  await visitor.signIn(request, user);
  const { csrf_token } = JSON.parse((await visitor.open(request, json)).text);

  const body = new URLSearchParams({ ...request, csrf_token });
  const answer = await visitor.send('/oauth/authorize', { method: 'POST', headers: json, body });

  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toEqual({
    status: 'redirect',
    redirect_uri: expect.stringContaining('?code=gqs_ac_'),
  });
});

test('consent needs the token of the page, in the session that was asked', async () => {
  const mine = new Visitor(oauth);
  const theirs = new Visitor(oauth);
  const { approval, denial, signOut } = await mine.signIn(requestOf(application), user);
  const other = await theirs.signIn(requestOf(application), await createUser(oauth));
  const before = await codes();

  for (const form of [approval, denial]) {
    expectForbidden(await theirs.submit(form));
    expectForbidden(await new Visitor(oauth).submit(form));
    for (const csrf_token of [
      '',
      'x'.repeat(43),
      'x'.repeat(10_000),
      other.approval.fields.csrf_token ?? '',
      signOut.fields.csrf_token ?? '',
    ]) {
      expectForbidden(await mine.submit(form, { csrf_token }));
    }
  }
  expect(await codes()).toBe(before);
  expect(answerOf(await mine.submit(approval))).toHaveProperty('code');
});

test('of many answers to one question one counts, whatever they are', async () => {
  const person = await createUser(oauth);
  const visitor = new Visitor(oauth);
  for (let round = 0; round < 3; round++) {
    const { approval, denial } = round
      ? await visitor.consent(`/oauth/authorize?${new URLSearchParams(requestOf(application))}`)
      : await visitor.signIn(requestOf(application), person);
    const before = (await codes(person)) ?? 0;
    const forms = Array.from({ length: 20 }, (_, index) => (round < 2 || index % 2 ? approval : denial));

    const answers = await Promise.all(forms.map((form) => visitor.submit(form)));

    const counted = answers.filter(({ status }) => status === 303);
    expect(counted).toHaveLength(1);
    for (const refused of answers.filter(({ status }) => status !== 303)) expectForbidden(refused);
    const allowed = counted.filter(({ headers }) => headers.get('Location')?.includes('code=')).length;
    expect(await codes(person)).toBe(before + allowed);
    if (round < 2) expect(allowed).toBe(1);
  }
});

test('a question that waited for 10 minutes has to be asked again', async () => {
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(requestOf(application), user);
  const token = approval.fields.csrf_token ?? '';
  const { rowCount } = await oauth.database.owner.query(
    `update oauth.consents set expires_at = expires_at - interval '10 minutes' where consent_hash = $1`,
    [hashToken(token)],
  );
  expect(rowCount).toBe(1);

  const page = await visitor.submit(approval);

  expectForbidden(page);
  const [, again = ''] = /<a class="button" href="([^"]*)"/.exec(page.text) ?? [];
  expect((await visitor.consent(again.replaceAll('&#38;', '&'))).status).toBe(200);
});

test('signing out ends the session and its open questions, in the browser that was given the form', async () => {
  const person = await createUser(oauth);
  const visitor = new Visitor(oauth);
  const { approval, signOut } = await visitor.signIn(requestOf(application), person);
  expectForbidden(await new Visitor(oauth).submit(signOut));
  expectForbidden(await visitor.submit(signOut, { csrf_token: approval.fields.csrf_token ?? '' }));
  expect(await sessions(person)).toHaveLength(1);

  const answer = await visitor.submit(signOut);

  expect(answer.status).toBe(303);
  expect(await sessions(person)).toHaveLength(0);
  expect(isSignInPage(await visitor.get(answer.headers.get('Location') ?? ''))).toBe(true);
  expectForbidden(await visitor.submit(approval));
  expect(await codes(person)).toBe(0);
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

import {
  answerOf,
  countCodesOf,
  expectForbidden,
  type Form,
  only,
  redirectUri,
  requestOf,
  sessionsOf,
  shareAuthorization,
  type Visit,
  Visitor,
} from './authorizeSupport.ts';
import {
  createApplication,
  createOrganization,
  createUser,
  type OauthTest,
  type TestApplication,
  type TestUser,
} from './support.ts';

// Sessions of the sign-in pages: when a person is signed in, and to which applications.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  ({ oauth, application, user } = await shareAuthorization());
});

const sessions = (person = user) => sessionsOf(oauth, person);

const codes = (person = user) => countCodesOf(oauth, person);

const isSignInPage = (page: Visit) => page.text.includes('name="password"');

async function signInForm(visitor: Visitor, request = requestOf(application)): Promise<Form> {
  return only((await visitor.open(request)).forms);
}

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

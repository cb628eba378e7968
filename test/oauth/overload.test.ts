import { only, redirectUri, requestOf, Visitor } from './authorizeSupport.ts';
import {
  asClient,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  startOauthTest,
  token,
} from './support.ts';

let oauth: OwnOauthTest;
beforeAll(async () => {
  oauth = await startOauthTest({ STATEMENT_TIMEOUT_MS: '1000', ARGON2_MEMORY_KIB: '', ARGON2_PASSES: '1' });
});
afterAll(() => oauth.stop());

test('too many sign-ins at once are refused with 503, and no other request waits for them', async () => {
  const application = await createApplication(oauth, { scopes: ['app', 'me'] });
  const user = await createUser(oauth);
  const form = { grant_type: 'password', username: user.email, password: 'wrong', ...asClient(application) };

  // Without a hash of the user's own, which is of the tests' cost, it takes production's time.
  const flood = Array.from({ length: 60 }, () => token(oauth, { form: { ...form, username: 'nobody@example.test' } }));
  const other = await token(oauth, { form: { grant_type: 'client_credentials', ...asClient(application) } });
  const answers = await Promise.all(flood);

  expectTokens(other, 'app');
  const [refused, busy] = [400, 503].map((status) => answers.filter((answer) => answer.status === status));
  expect(refused?.length).toBeGreaterThan(33);
  expect(busy?.length).toBeGreaterThan(0);
  expect((refused?.length ?? 0) + (busy?.length ?? 0)).toBe(60);
  for (const answer of busy ?? []) {
    expectRefusal(answer, 503, 'temporarily_unavailable');
    expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
  }
  expectTokens(await token(oauth, { form: { ...form, password: user.password } }), 'me');
});

test('a statement that takes too long is a 503, and the cause is in the log', async () => {
  const application = await createApplication(oauth);
  const form = { grant_type: 'client_credentials', ...asClient(application) };
  const blocker = await oauth.database.owner.connect();
  await blocker.query('begin');
  await blocker.query('lock table oauth.grants');

  const answer = await token(oauth, { form });
  await blocker.query('rollback');
  blocker.release();

  expectRefusal(answer, 503, 'temporarily_unavailable');
  expect(answer.headers.get('Retry-After')).toMatch(/^\d+$/);
  expect(oauth.logs.some((line) => line.includes('"code":"57014"'))).toBe(true);
  expectTokens(await token(oauth, { form }), 'app');
});

test('a page that has to wait too long says so to the person', async () => {
  const application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  const user = await createUser(oauth);
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(requestOf(application), user);
  const form = only((await new Visitor(oauth).open(requestOf(application))).forms);
  const blocker = await oauth.database.owner.connect();
  await blocker.query('begin');
  await blocker.query('lock table oauth.sessions, oauth.consents, oauth.applications');

  const pages = [
    await visitor.open(requestOf(application)),
    await visitor.submit(approval),
    await visitor.submit(form, { username: user.email, password: user.password }),
  ];
  await blocker.query('rollback');
  blocker.release();

  for (const page of pages) {
    expect({ status: page.status, location: page.headers.get('Location') }).toEqual({ status: 503, location: null });
    expect(page.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(page.text).toContain('<h1>Not right now</h1>');
  }
  // A form that was not answered can be sent again.
  expect((await visitor.submit(approval)).status).toBe(303);
});

test('a store of sessions that does not answer is no reason to let anybody in', async () => {
  const application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  const user = await createUser(oauth);
  const visitor = new Visitor(oauth);
  await visitor.signIn(requestOf(application), user);
  const blocker = await oauth.database.owner.connect();
  await blocker.query('begin');
  await blocker.query('lock table oauth.sessions');

  const page = await visitor.open(requestOf(application));
  await blocker.query('rollback');
  blocker.release();

  expect(page.status).toBe(503);
  expect((await visitor.open(requestOf(application))).forms).toHaveLength(3);
});

import {
  asClient,
  createApplication,
  createOrganization,
  createUser,
  expectRefusal,
  expectTokens,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  token,
} from './support.ts';

let oauth: OauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'me'] });
});

const signIn = (username: string, password: string, more: Record<string, string> = {}) =>
  token(oauth, { form: { grant_type: 'password', username, password, ...asClient(application), ...more } });

test('a person signs in by e-mail address and password', async () => {
  const { id, email, password } = await createUser(oauth);

  const { access_token } = expectTokens(await signIn(email, password), 'me');
  expectTokens(await signIn(email, password, { scope: 'me' }), 'me');

  const { rows } = await oauth.database.owner.query(
    'select user_id, grant_type, scopes, client_authentication from oauth.grants where user_id = $1',
    [id],
  );
  expect(access_token).toBeDefined();
  expect(rows).toEqual(
    Array(2).fill({ user_id: id, grant_type: 'password', scopes: ['me'], client_authentication: 'secret' }),
  );
});

test('the e-mail address is taken whatever its case and with space around it', async () => {
  const { email, password } = await createUser(oauth, { email: 'Grace.Hopper@Example.test' });

  for (const username of [email, email.toLowerCase(), email.toUpperCase(), ` ${email}\n`]) {
    expectTokens(await signIn(username, password), 'me');
  }
});

test('a password is the same however its letters are composed', async () => {
  const { email } = await createUser(oauth, { password: 'pässwörd mit Ümläuten'.normalize('NFC') });

  expectTokens(await signIn(email, 'pässwörd mit Ümläuten'.normalize('NFD')), 'me');
  expectRefusal(await signIn(email, 'passwort mit Ümläuten'), 400, 'invalid_grant');
});

test('wrong, unknown, disabled, passwordless and foreign users get the identical refusal', async () => {
  const known = await createUser(oauth);
  const disabled = await createUser(oauth, { disabled: true });
  const passwordless = await createUser(oauth, { password: null });
  const foreign = await createUser(oauth, { organizationId: await createOrganization(oauth.database) });

  const answers = await Promise.all([
    signIn(known.email, 'wrong'),
    signIn('nobody@example.test', known.password),
    signIn('nobody', known.password),
    signIn('%', known.password),
    signIn(disabled.email, disabled.password),
    signIn(passwordless.email, known.password),
    signIn(foreign.email, foreign.password),
  ]);

  for (const answer of answers) {
    expectRefusal(answer, 400, 'invalid_grant');
    expect(answer.text).toBe(answers[0]?.text);
  }
  expectTokens(await signIn(known.email, known.password), 'me');
});

test('one e-mail address in two organizations is two people', async () => {
  const organizationId = await createOrganization(oauth.database);
  const elsewhere = await createApplication(oauth, { organizationId, scopes: ['me'] });
  const email = 'same@example.test';
  const here = await createUser(oauth, { email });
  const there = await createUser(oauth, { email, organizationId, password: 'another password' });

  expectTokens(await signIn(email, here.password), 'me');
  expectTokens(await signIn(email, there.password, asClient(elsewhere)), 'me');
  expectRefusal(await signIn(email, there.password), 400, 'invalid_grant');
  expectRefusal(await signIn(email, here.password, asClient(elsewhere)), 400, 'invalid_grant');
});

test('an application that does not hold the scope of people cannot sign them in', async () => {
  const { email, password } = await createUser(oauth);
  const appOnly = await createApplication(oauth, { scopes: ['app'] });

  expectRefusal(await signIn(email, password, { ...asClient(appOnly), scope: 'me' }), 400, 'invalid_scope');
  expectRefusal(await signIn(email, password, asClient(appOnly)), 400, 'unauthorized_client');
});

test('the mobile app that signs in by external token refuses user names and passwords', async () => {
  const { email, password } = await createUser(oauth);
  const external = await createApplication(oauth, { scopes: ['me'], mobileApp: 'external_authentication_token' });

  expectRefusal(await signIn(email, password, asClient(external)), 400, 'unauthorized_client');
  // Parameters come before the application's type.
  expectRefusal(await signIn(email, '', asClient(external)), 400, 'invalid_request');
});

test('the grant remembers that its client came without a secret', async () => {
  const { id, email, password } = await createUser(oauth);
  const mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'password' });

  const form = { grant_type: 'password', username: email, password, client_id: mobile.clientId };
  expectTokens(await token(oauth, { form }), 'me');

  const { rows } = await oauth.database.owner.query(
    'select client_authentication from oauth.grants where user_id = $1',
    [id],
  );
  expect(rows).toEqual([{ client_authentication: 'none' }]);
});

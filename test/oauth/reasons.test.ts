import { hashToken } from '../../src/token/format.ts';
import { until } from '../support/until.ts';
import { createPkce, exchangeForm, obtainCode, only, redirectUri, requestOf, Visitor } from './authorizeSupport.ts';
import {
  type Answer,
  asClient,
  bearer,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OauthTest,
  type Sent,
  send,
  shareOauthTest,
  signIn,
  type TestApplication,
  type TestUser,
  token,
} from './support.ts';

let oauth: OauthTest;
let own: TestApplication;
let people: TestApplication;
let other: TestApplication;
let user: TestUser;
beforeAll(async () => {
  oauth = await shareOauthTest();
  own = await createApplication(oauth, { scopes: ['app', 'basic'] });
  people = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  other = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});

/** The canonical log line of the request. */
async function lineOf({ headers }: { headers: Headers }): Promise<Record<string, unknown>> {
  const id = headers.get('X-Request-Id');
  const find = () =>
    oauth.logs.map((line) => JSON.parse(line)).find(({ requestId, msg }) => msg === 'request' && requestId === id);
  // It is written when the response has closed.
  await until(() => find() !== undefined);
  return find();
}

type Refusal = { status: number; error: string; description: string; reason: string };

/** The client reads the description and nothing more; the log has the reason. */
async function expectReason(answer: Answer, { status, error, description, reason }: Refusal): Promise<void> {
  expectRefusal(answer, status, error);
  expect(answer.body.error_description).toBe(description);
  const line = await lineOf(answer);
  expect({ status: line.status, code: line.code, reason: line.reason }).toEqual({ status, code: error, reason });
}

const set = (statement: string, ...values: unknown[]) => oauth.database.owner.query(statement, values);
const disable = ({ id }: { id: string }) =>
  set('update oauth.credentials set disabled_at = now() where user_id = $1', id);

test('a request that is answered has no reason', async () => {
  const answer = await token(oauth, { form: { grant_type: 'client_credentials', ...asClient(own) } });

  expectTokens(answer, 'app basic');
  expect((await lineOf(answer)).reason).toBeUndefined();
});

describe('where the description says everything, it is the reason', () => {
  const person = { grant_type: 'password', username: 'a', password: 'b' };
  it.each<[form: () => Record<string, string>, error: string, description: string]>([
    [() => ({}), 'invalid_request', 'grant_type is missing: send it form-encoded in the body.'],
    [
      () => ({ grant_type: 'implicit' }),
      'unsupported_grant_type',
      'grant_type must be one of client_credentials, password, authorization_code, refresh_token.',
    ],
    [() => ({ grant_type: 'password', password: 'b' }), 'invalid_request', 'username is missing.'],
    [() => ({ grant_type: 'password', username: 'a' }), 'invalid_request', 'password is missing.'],
    [() => ({ grant_type: 'refresh_token' }), 'invalid_request', 'refresh_token is missing.'],
    [() => ({ grant_type: 'authorization_code' }), 'invalid_request', 'code is missing.'],
    [() => ({ grant_type: 'authorization_code', code: 'c' }), 'invalid_request', 'redirect_uri is missing.'],
    [
      () => ({ grant_type: 'authorization_code', code: 'c', redirect_uri: 'r' }),
      'invalid_request',
      'code_verifier is missing.',
    ],
    [
      () => ({ ...person, external_authentication_token: 'c' }),
      'invalid_request',
      'Send username and password, or external_authentication_token, not both.',
    ],
    [() => ({ ...person, scope: 'app' }), 'invalid_scope', 'This grant type cannot give that scope.'],
    [() => ({ ...person, scope: 'all' }), 'invalid_scope', 'scope takes app, basic and me, separated by one space.'],
    [() => ({ ...person, scope: 'me me' }), 'invalid_scope', 'scope repeats a word.'],
    [
      () => ({ ...person, ...asClient(own) }),
      'unauthorized_client',
      'The application holds no scope that this grant can give.',
    ],
    [
      () => ({ ...person, scope: 'me', ...asClient(own) }),
      'invalid_scope',
      'That is more than the application and the grant hold.',
    ],
    [
      () => ({ grant_type: 'password', external_authentication_token: 'c', ...asClient(people) }),
      'unauthorized_client',
      'The application has no mobile app that signs in by external_authentication_token.',
    ],
  ])('%#: %s', async (form, error, description) => {
    await expectReason(await token(oauth, { form: form() }), { status: 400, error, description, reason: description });
  });
});

test('every refusal of a client says the same, and the log why', async () => {
  const native = await createApplication(oauth, { scopes: ['me'], confidential: false });
  const form = { grant_type: 'client_credentials' };
  const tries: [Sent, string][] = [
    [{ form }, 'client_id is missing'],
    [{ form: { ...form, client_id: 'none' } }, 'no enabled application has this client_id'],
    [{ form: { ...form, client_id: 'none', client_secret: 'x' } }, 'no enabled application has this client_id'],
    [{ form: { ...form, ...asClient(own), client_secret: 'x' } }, 'the secret is wrong'],
    [{ form: { ...form, client_id: own.clientId } }, 'the client sent no secret, and has one'],
    [{ form: { ...form, client_id: native.clientId, client_secret: 'x' } }, 'a public client sent a secret'],
    [{ form, basic: { id: own.clientId, secret: '' } }, 'the client sent no secret, and has one'],
    [{ form, basic: { id: '', secret: 'x' } }, 'client_id or client_secret is empty'],
    [{ form, headers: { Authorization: 'Digest x' } }, 'the Authorization header is not HTTP Basic'],
    [{ form, headers: { Authorization: `Basic ${btoa('x')}` } }, 'HTTP Basic without a colon'],
    [{ form, headers: { Authorization: `Basic ${btoa('%ff:x')}` } }, 'HTTP Basic is not form-encoded UTF-8'],
  ];
  const description =
    'The client is unknown, or did not authenticate as it must: send client_id, and the secret if it has one.';
  for (const [sent, reason] of tries)
    await expectReason(await token(oauth, sent), { status: 401, error: 'invalid_client', description, reason });

  const mobile = await createApplication(oauth, { scopes: ['app'], mobileApp: 'password' });
  const unproven = await token(oauth, { form: { ...form, client_id: mobile.clientId } });
  const reason = 'client_credentials without the secret';
  await expectReason(unproven, { status: 401, error: 'invalid_client', description, reason });
  const ofPublic = await token(oauth, { form: { ...form, client_id: native.clientId } });
  const explained = 'A public client has no credentials of its own to use.';
  await expectReason(ofPublic, {
    status: 400,
    error: 'unauthorized_client',
    description: explained,
    reason: explained,
  });
});

test('every wrong password says the same, and the log why', async () => {
  const without = await createUser(oauth, { password: null });
  const disabled = await createUser(oauth, { disabled: true });
  const attempt = (username: string, password: string) =>
    token(oauth, { form: { grant_type: 'password', username, password, ...asClient(people) } });
  for (const [username, password, reason] of [
    ['nobody@example.test', user.password, 'no user has this e-mail address'],
    [user.email, 'wrong password', 'the password is wrong'],
    [without.email, user.password, 'the user has no password'],
    [disabled.email, disabled.password, 'the user is disabled'],
  ] as const) {
    const description = 'User name or password is wrong.';
    await expectReason(await attempt(username, password), { status: 400, error: 'invalid_grant', description, reason });
  }
  expectTokens(await attempt(user.email, user.password), 'me');
});

test('every wrong external authentication token says the same, and the log why', async () => {
  const mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'external_authentication_token' });
  const disabled = await createUser(oauth, { disabled: true });
  const attempt = (external_authentication_token: string) =>
    token(oauth, { form: { grant_type: 'password', external_authentication_token, client_id: mobile.clientId } });
  const description = 'external_authentication_token is wrong.';
  for (const [value, reason] of [
    ['x'.repeat(20), 'no user has this external_authentication_token'],
    [disabled.externalAuthenticationToken, 'the user is disabled'],
  ] as const)
    await expectReason(await attempt(value), { status: 400, error: 'invalid_grant', description, reason });
  expectTokens(await attempt(user.externalAuthenticationToken), 'me');
});

test('every refresh token that is no good says the same, and the log why', async () => {
  const refresh = (refresh_token: string, client: Record<string, string> = asClient(people)) =>
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...client } });
  const refused = (reason: string) => ({
    status: 400,
    error: 'invalid_grant',
    description: 'The refresh token is unknown, expired or revoked.',
    reason,
  });
  const [good, expired, ofDisabled, used] = [
    await signIn(oauth, asClient(people)),
    await signIn(oauth, asClient(people)),
    await signIn(oauth, asClient(people)),
    await signIn(oauth, asClient(people)),
  ];
  await set(
    'update oauth.refresh_tokens set created_at = now() - interval $$2 days$$, expires_at = now() - interval $$1 day$$ where token_hash = $1',
    hashToken(expired.refresh_token),
  );
  await disable(ofDisabled.user);

  await expectReason(await refresh('gqs_rt_x'), refused('the refresh token is unknown, or its grant was ended'));
  await expectReason(
    await refresh(good.refresh_token, asClient(other)),
    refused('the refresh token is another client’s'),
  );
  await expectReason(await refresh(expired.refresh_token), refused('the refresh token has expired'));
  await expectReason(await refresh(ofDisabled.refresh_token), refused('the user is disabled'));

  const next = expectTokens(await refresh(used.refresh_token), 'me');
  expectTokens(await refresh(next.refresh_token), 'me');
  const description = 'The refresh token was used before, so its grant has been ended; sign in again.';
  await expectReason(await refresh(used.refresh_token), { ...refused(description), description });
  expectTokens(await refresh(good.refresh_token), 'me');
});

test('a token that was given to a client with its secret is refused to it without, and the log says so', async () => {
  const mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'password' });
  const { refresh_token } = await signIn(oauth, asClient(mobile));
  const refresh = (client: Record<string, string>) =>
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...client } });

  await expectReason(await refresh({ client_id: mobile.clientId }), {
    status: 401,
    error: 'invalid_client',
    description:
      'The client is unknown, or did not authenticate as it must: send client_id, and the secret if it has one.',
    reason: 'the grant was given to the client with its secret, which is missing',
  });
  expectTokens(await refresh(asClient(mobile)), 'me');
});

test('every code that is no good says the same, and the log why', async () => {
  const disabled = await createUser(oauth);
  const obtain = async (person = user) => {
    const pkce = createPkce();
    const code = await obtainCode(oauth, people, person, pkce);
    return { code, form: { ...exchangeForm(code, pkce), ...asClient(people) } };
  };
  const refused = (reason: string) => ({
    status: 400,
    error: 'invalid_grant',
    description:
      'The authorization code is unknown or expired, or redirect_uri or code_verifier are not those it needs.',
    reason,
  });
  const [good, expired, ofDisabled] = [await obtain(), await obtain(), await obtain(disabled)];
  await set(
    'update oauth.authorization_codes set expires_at = now() - interval $$1 second$$ where code_hash = $1',
    hashToken(expired.code),
  );
  await disable(disabled);
  const exchange = (form: Record<string, string>) => token(oauth, { form });

  for (const [form, reason] of [
    [{ ...good.form, code: 'gqs_ac_x' }, 'the code is unknown'],
    [{ ...good.form, ...asClient(other) }, 'the code is another client’s'],
    [{ ...good.form, redirect_uri: `${redirectUri}x` }, 'redirect_uri is not the one of the request'],
    [{ ...good.form, code_verifier: 'x'.repeat(43) }, 'code_verifier does not match'],
    [expired.form, 'the code has expired'],
    [ofDisabled.form, 'the user is disabled'],
  ] as const)
    await expectReason(await exchange(form), refused(reason));

  expectTokens(await exchange(good.form), 'me');
  const description = 'The authorization code was used before.';
  await expectReason(await exchange(good.form), { ...refused(description), description });
});

test('a bearer token that is no good says so, and to end it takes a good one', async () => {
  const { access_token } = await signIn(oauth, asClient(people));
  const end = (headers: Record<string, string>) => token(oauth, { method: 'DELETE', headers });
  const description = 'This needs an access token: send the header Authorization: Bearer <access token>.';

  await expectReason(await end({}), { status: 401, error: 'invalid_token', description, reason: description });
  const introspection = await send(oauth, '/oauth/introspect', { form: { token: 'x' }, headers: bearer(access_token) });
  await expectReason(introspection, {
    status: 401,
    error: 'invalid_token',
    description: 'The access token is unknown, expired or revoked.',
    reason: 'a token of a user may not introspect others',
  });
  expect((await end(bearer(access_token))).status).toBe(200);
});

test('the authorization endpoint redirects or shows a page, and the log has the reason', async () => {
  const visitor = new Visitor(oauth);
  const request = requestOf(people);
  const redirected = await visitor.open({ ...request, scope: 'app' });
  expect(redirected.headers.get('Location')).toContain('error=invalid_scope');
  expect((await lineOf(redirected)).reason).toBe('That is more than the application and the grant hold.');

  const wrong = await visitor.submit(only((await visitor.open(request)).forms), {
    username: user.email,
    password: 'x',
  });
  expect(wrong.status).toBe(400);
  expect((await lineOf(wrong)).reason).toBe('the password is wrong');

  const { approval } = await visitor.signIn(request, user);
  const stranger = await new Visitor(oauth).submit(approval);
  expect(stranger.status).toBe(403);
  expect((await lineOf(stranger)).reason).toBe('the session has no sign-in');
  const approved = await visitor.submit(approval);
  expect(approved.status).toBe(303);
  expect((await lineOf(approved)).reason).toBeUndefined();
  const again = await visitor.submit(approval);
  expect((await lineOf(again)).reason).toBe('csrf_token was used, has expired, or is of another session or request');
});

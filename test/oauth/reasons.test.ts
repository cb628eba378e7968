import { only, redirectUri, requestOf, Visitor } from './authorizeSupport.ts';
import { expectReason as expectReasonInLog, lineOf as lineInLog, type Refusal } from './reasonInLog.ts';
import {
  type Answer,
  asClient,
  bearer,
  createApplication,
  createUser,
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
let user: TestUser;
beforeAll(async () => {
  oauth = await shareOauthTest();
  own = await createApplication(oauth, { scopes: ['app', 'basic'] });
  people = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});

const expectReason = (answer: Answer, refusal: Refusal) => expectReasonInLog(oauth, answer, refusal);
const lineOf = (answer: { headers: Headers }) => lineInLog(oauth, answer);

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
  const denied = await visitor.submit(approval, { _method: 'delete' });
  expect((await lineOf(denied)).reason).toBe('csrf_token was used, has expired, or is of another session or request');
});

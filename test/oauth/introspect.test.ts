import { hashToken } from '../../src/token/accessTokens.ts';
import {
  asClient,
  bearer,
  createApplication,
  createOrganization,
  expectAnswer,
  expectRefusal,
  expectTokens,
  issueOwn,
  type OauthTest,
  send,
  shareOauthTest,
  signIn,
  type TestApplication,
  token,
} from './support.ts';

let oauth: OauthTest;
let application: TestApplication;
let resourceServer: TestApplication;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'basic', 'me'] });
  resourceServer = await createApplication(oauth, { scopes: ['basic', 'app'] });
});

const introspect = (text: string, client: TestApplication = resourceServer) =>
  send(oauth, '/oauth/introspect', { form: { token: text, ...asClient(client) } });
const introspectAs = (accessToken: string, text: string) =>
  send(oauth, '/oauth/introspect', { form: { token: text }, headers: bearer(accessToken) });
const change = async (statement: string, values: unknown[]) =>
  expect((await oauth.database.owner.query(statement, values)).rowCount).toBe(1);

test('a live token of a person is described, to the second', async () => {
  const form = { grant_type: 'password', ...asClient(application) };
  const { user } = await signIn(oauth, asClient(application));
  const issued = await token(oauth, { form: { ...form, username: user.email, password: user.password } });
  const { access_token } = expectTokens(issued, 'me');

  const answer = await introspect(access_token);

  expectAnswer(answer, {
    active: true,
    scope: 'me',
    client_id: application.clientId,
    token_type: 'bearer',
    exp: Number(issued.body.created_at) + 7200,
    iat: issued.body.created_at,
    sub: expect.stringMatching(/./),
  });
});

test('the subject is the id by which the person is known elsewhere', async () => {
  const { access_token } = await signIn(oauth, asClient(application));
  const other = await signIn(oauth, asClient(application));
  const info = await send(oauth, '/oauth/token/info', { method: 'GET', headers: bearer(access_token) });

  const { body } = await introspect(access_token);

  expect(body.sub).toBe(info.body.resource_owner_id);
  expect((await introspect(other.access_token)).body.sub).not.toBe(body.sub);
});

test("the subject of an application's own token is the client", async () => {
  const { access_token } = await issueOwn(oauth, application, 'app basic');

  expect((await introspect(access_token)).body).toMatchObject({
    active: true,
    scope: 'app basic',
    client_id: application.clientId,
    sub: application.clientId,
  });
});

test('callers are confidential clients, and bearers of an app or basic token', async () => {
  const { access_token } = await signIn(oauth, asClient(application));
  const [app, basic] = [await issueOwn(oauth, resourceServer, 'app'), await issueOwn(oauth, resourceServer, 'basic')];
  const { clientId: id, secret } = resourceServer;

  const answers = [
    await introspect(access_token),
    await introspect(access_token, application),
    await send(oauth, '/oauth/introspect', { form: { token: access_token }, basic: { id, secret } }),
    await introspectAs(app.access_token, access_token),
    await introspectAs(basic.access_token, access_token),
    await introspectAs(basic.access_token, basic.access_token),
  ];

  for (const answer of answers)
    expect({ status: answer.status, active: answer.body.active }).toEqual({ status: 200, active: true });
});

test('no other caller is answered', async () => {
  const publicClient = await createApplication(oauth, { scopes: ['me'], confidential: false });
  const mobile = await createApplication(oauth, { scopes: ['app', 'me'], mobileApp: 'password' });
  const { access_token, refresh_token } = await signIn(oauth, asClient(application));
  const ended = await issueOwn(oauth, resourceServer, 'app');
  await send(oauth, '/oauth/token', { method: 'DELETE', headers: bearer(ended.access_token) });
  const form = (client: Record<string, string>) =>
    send(oauth, '/oauth/introspect', { form: { token: access_token, ...client } });

  expectRefusal(await form({}), 401, 'invalid_client');
  expectRefusal(await form({ client_id: publicClient.clientId }), 401, 'invalid_client');
  expectRefusal(await form({ client_id: mobile.clientId }), 401, 'invalid_client');
  expectRefusal(await form({ ...asClient(resourceServer), client_secret: 'wrong' }), 401, 'invalid_client');
  for (const caller of [access_token, refresh_token, ended.access_token, 'nonsense', 'a b']) {
    const answer = await introspectAs(caller, access_token);
    expectRefusal(answer, 401, 'invalid_token');
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
  }
  expect((await introspect(access_token)).body.active).toBe(true);
});

test.each([
  ['expired', `update oauth.access_tokens set expires_at = now() where token_hash = $1`],
  ['revoked', `delete from oauth.grants where id = (select grant_id from oauth.access_tokens where token_hash = $1)`],
  [
    'of a disabled person',
    `update oauth.credentials set disabled_at = now() where user_id =
       (select user_id from oauth.grants join oauth.access_tokens t on t.grant_id = id where token_hash = $1)`,
  ],
])('a token %s is exactly inactive', async (_, statement) => {
  const { access_token } = await signIn(oauth, asClient(application));
  expect((await introspect(access_token)).body.active).toBe(true);

  await change(statement, [hashToken(access_token)]);

  expectAnswer(await introspect(access_token), { active: false });
});

test('a token of another organization is exactly inactive, and so is what is no token', async () => {
  const organizationId = await createOrganization(oauth.database);
  const foreign = await createApplication(oauth, { scopes: ['app', 'basic', 'me'], organizationId });
  const own = await issueOwn(oauth, foreign, 'app');
  const person = await signIn(oauth, asClient(foreign), { organizationId });
  const caller = await issueOwn(oauth, resourceServer, 'app');

  for (const text of [own.access_token, own.refresh_token, person.access_token, 'nonsense', `${own.access_token}x`]) {
    expectAnswer(await introspect(text), { active: false });
    expectAnswer(await introspectAs(caller.access_token, text), { active: false });
  }
  expect((await introspect(own.access_token, foreign)).body.active).toBe(true);
  expect((await introspect(person.access_token, foreign)).body.active).toBe(true);
});

test('a refresh token is active for its own client until it is used, and never for a resource server', async () => {
  const { refresh_token } = await signIn(oauth, asClient(application));
  const hash = hashToken(refresh_token);

  expectAnswer(await introspect(refresh_token), { active: false });
  const { body } = await introspect(refresh_token, application);
  expect(body).toMatchObject({ active: true, scope: 'me', token_type: 'refresh_token' });
  expect(Number(body.exp) - Number(body.iat)).toBe(30 * 86_400);
  await token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...asClient(application) } });
  expectAnswer(await introspect(refresh_token, application), { active: false });
  await change('update oauth.refresh_tokens set used_at = null, successor_hash = null where token_hash = $1', [hash]);
  expect((await introspect(refresh_token, application)).body.active).toBe(true);
  await change('update oauth.refresh_tokens set expires_at = now() where token_hash = $1', [hash]);
  expectAnswer(await introspect(refresh_token, application), { active: false });
});

test('what is asked for must be in the body, once, and the caller must not speak twice', async () => {
  const { access_token } = await issueOwn(oauth, resourceServer, 'app');
  const client = asClient(resourceServer);
  const post = (sent: Parameters<typeof send>[2]) => send(oauth, '/oauth/introspect', sent);

  expectRefusal(await post({ form: client }), 400, 'invalid_request');
  expectRefusal(await post({ form: client, query: `token=${access_token}` }), 400, 'invalid_request');
  const twice: [string, string][] = [['token', access_token], ['token', access_token], ...Object.entries(client)];
  expectRefusal(await post({ form: twice }), 400, 'invalid_request');
  const both = await post({ form: { token: access_token, ...client }, headers: bearer(access_token) });
  expectRefusal(both, 400, 'invalid_request');
  const hinted = await post({ form: { token: access_token, token_type_hint: 'refresh_token', ...client } });
  expect(hinted.body.active).toBe(true);
  const got = await post({ method: 'GET' });
  expectRefusal(got, 405, 'invalid_request');
  expect(got.headers.get('Allow')).toBe('POST');
});

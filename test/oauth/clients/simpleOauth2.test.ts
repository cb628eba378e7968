import { AuthorizationCode, ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2';
import { answerOf, createPkce, redirectUri, Visitor } from '../authorizeSupport.ts';
import {
  bearer,
  createApplication,
  createUser,
  type OauthTest,
  send,
  shareOauthTest,
  type TestApplication,
  type TestUser,
} from '../support.ts';

// With the paths that simple-oauth2 has by default.

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});

const config = () => ({
  client: { id: application.clientId, secret: application.secret },
  auth: { tokenHost: oauth.url },
});

const isAlive = async (accessToken: unknown): Promise<boolean> => {
  const headers = bearer(String(accessToken));
  return (await send(oauth, '/oauth/token/info', { method: 'GET', headers })).status === 200;
};

test('simple-oauth2 gets tokens for a code, renews and revokes them', async () => {
  const { verifier, challenge } = createPkce();
  const client = new AuthorizationCode(config());
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  const url = new URL(client.authorizeURL({ redirect_uri: redirectUri, scope: 'me', state: 'a', ...pkce }));
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(Object.fromEntries(url.searchParams), user);
  const { code = '' } = answerOf(await visitor.submit(approval));

  const parameters = { code, redirect_uri: redirectUri, code_verifier: verifier };
  const first = await client.getToken(parameters);
  const second = await first.refresh();

  expect(await isAlive(second.token.access_token)).toBe(true);
  expect(first.expired(7000)).toBe(false);
  await second.revokeAll();
  expect(await isAlive(second.token.access_token)).toBe(false);
});

test('simple-oauth2 gets tokens of the application and, by password, of a person', async () => {
  const own = await new ClientCredentials(config()).getToken({ scope: 'app' });
  const ofPerson = await new ResourceOwnerPassword(config()).getToken({
    username: user.email,
    password: user.password,
    scope: 'me',
  });

  expect([own.token.scope, ofPerson.token.scope]).toEqual(['app', 'me']);
  expect([await isAlive(own.token.access_token), await isAlive(ofPerson.token.access_token)]).toEqual([true, true]);
});

test('simple-oauth2 hears why it was refused', async () => {
  const wrong = new ClientCredentials({ ...config(), client: { id: application.clientId, secret: 'wrong' } });

  await expect(wrong.getToken({})).rejects.toMatchObject({
    output: { statusCode: 401 },
    data: { payload: { error: 'invalid_client' } },
  });
});

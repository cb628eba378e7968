import * as openid from 'openid-client';
import { answerOf, Visitor } from '../authorizeSupport.ts';
import { createApplication, createUser, type OauthTest, shareOauthTest } from '../support.ts';

let oauth: OauthTest;
beforeAll(async () => {
  oauth = await shareOauthTest();
});

const discover = (clientId: string, authentication: openid.ClientAuth) =>
  openid.discovery(new URL(oauth.url), clientId, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });

test('openid-client, as a native app, gets tokens for a code by what it discovers, renews and revokes them', async () => {
  const registered = 'http://127.0.0.1/callback';
  const application = await createApplication(oauth, {
    scopes: ['me'],
    confidential: false,
    redirectUris: [registered],
  });
  const user = await createUser(oauth);
  const redirect_uri = 'http://127.0.0.1:50123/callback';
  const config = await discover(application.clientId, openid.None());
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();

  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri,
    scope: 'me',
    state: expectedState,
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  expect(url.href).toMatch(`${oauth.url}/oauth/authorize?`);
  const visitor = new Visitor(oauth);
  const { approval } = await visitor.signIn(Object.fromEntries(url.searchParams), user);
  const callback = new URL(redirect_uri);
  callback.search = new URLSearchParams(answerOf(await visitor.submit(approval), redirect_uri)).toString();

  const tokens = await openid.authorizationCodeGrant(config, callback, { pkceCodeVerifier, expectedState });
  expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'me' });
  expect(tokens.expiresIn()).toBeGreaterThan(7100);
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
  await openid.tokenRevocation(config, renewed.access_token);
  const again = openid.refreshTokenGrant(config, renewed.refresh_token ?? '');
  await expect(again).rejects.toMatchObject({ error: 'invalid_grant' });
});

test('openid-client, as a backend, gets tokens of its own and introspects them', async () => {
  const application = await createApplication(oauth, { scopes: ['app', 'basic'] });
  const config = await discover(application.clientId, openid.ClientSecretBasic(application.secret));

  const tokens = await openid.clientCredentialsGrant(config, { scope: 'app basic' });

  expect(tokens.scope).toBe('app basic');
  const introspected = await openid.tokenIntrospection(config, tokens.access_token);
  expect(introspected).toMatchObject({ active: true, sub: application.clientId });
});

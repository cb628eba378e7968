import * as oauth4webapi from 'oauth4webapi';
import { answerOf, redirectUri, Visitor } from '../authorizeSupport.ts';
import {
  createApplication,
  createUser,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  type TestUser,
} from '../support.ts';

let oauth: OauthTest;
let application: TestApplication;
let user: TestUser;
let server: oauth4webapi.AuthorizationServer;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
  const issuer = new URL(oauth.url);
  const response = await oauth4webapi.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
  server = await oauth4webapi.processDiscoveryResponse(issuer, response);
});

/** The test service has no certificate. */
const insecure = { [oauth4webapi.allowInsecureRequests]: true };

const client = (): oauth4webapi.Client => ({ client_id: application.clientId });

describe.each([
  ['client_secret_basic', (secret: string) => oauth4webapi.ClientSecretBasic(secret)],
  ['client_secret_post', (secret: string) => oauth4webapi.ClientSecretPost(secret)],
])('oauth4webapi with %s', (_, authentication) => {
  const authenticate = () => authentication(application.secret);

  test('gets tokens of its own', async () => {
    const parameters = new URLSearchParams({ scope: 'app' });
    const response = await oauth4webapi.clientCredentialsGrantRequest(
      server,
      client(),
      authenticate(),
      parameters,
      insecure,
    );

    const result = await oauth4webapi.processClientCredentialsResponse(server, client(), response);

    expect(result).toMatchObject({ token_type: 'bearer', expires_in: 7200, scope: 'app' });
  });

  test('gets tokens for a code, renews, introspects and revokes them', async () => {
    const verifier = oauth4webapi.generateRandomCodeVerifier();
    const state = oauth4webapi.generateRandomState();
    const visitor = new Visitor(oauth);
    const { approval } = await visitor.signIn(
      {
        client_id: application.clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'me',
        state,
        code_challenge: await oauth4webapi.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      },
      user,
    );
    const callback = new URLSearchParams(answerOf(await visitor.submit(approval)));

    // With the check of `iss` that the metadata promises.
    const parameters = oauth4webapi.validateAuthResponse(server, client(), callback, state);
    const exchanged = await oauth4webapi.processAuthorizationCodeResponse(
      server,
      client(),
      await oauth4webapi.authorizationCodeGrantRequest(
        server,
        client(),
        authenticate(),
        parameters,
        redirectUri,
        verifier,
        insecure,
      ),
    );
    expect(exchanged.scope).toBe('me');
    const renewed = await oauth4webapi.processRefreshTokenResponse(
      server,
      client(),
      await oauth4webapi.refreshTokenGrantRequest(
        server,
        client(),
        authenticate(),
        exchanged.refresh_token ?? '',
        insecure,
      ),
    );
    expect(renewed.access_token).not.toBe(exchanged.access_token);
    const introspect = async () =>
      oauth4webapi.processIntrospectionResponse(
        server,
        client(),
        await oauth4webapi.introspectionRequest(server, client(), authenticate(), renewed.access_token, insecure),
      );
    expect(await introspect()).toMatchObject({ active: true, client_id: application.clientId, scope: 'me' });
    const revoked = await oauth4webapi.revocationRequest(
      server,
      client(),
      authenticate(),
      renewed.access_token,
      insecure,
    );
    await oauth4webapi.processRevocationResponse(revoked);
    expect(await introspect()).toEqual({ active: false });
  });
});

test('a refusal at the token endpoint reaches oauth4webapi with its code', async () => {
  const wrong = oauth4webapi.ClientSecretPost('wrong');
  const response = await oauth4webapi.clientCredentialsGrantRequest(
    server,
    client(),
    wrong,
    new URLSearchParams(),
    insecure,
  );

  const refused = oauth4webapi.processClientCredentialsResponse(server, client(), response);

  await expect(refused).rejects.toThrow(oauth4webapi.WWWAuthenticateChallengeError);
});

test('a denial reaches oauth4webapi with its code', async () => {
  const visitor = new Visitor(oauth);
  const { denial } = await visitor.signIn(
    {
      client_id: application.clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      state: 'a',
      code_challenge: await oauth4webapi.calculatePKCECodeChallenge(oauth4webapi.generateRandomCodeVerifier()),
      code_challenge_method: 'S256',
    },
    user,
  );
  const callback = new URLSearchParams(answerOf(await visitor.submit(denial)));

  expect(() => oauth4webapi.validateAuthResponse(server, client(), callback, 'a')).toThrow(
    expect.objectContaining({ error: 'access_denied' }),
  );
});

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
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'basic', 'me'] });
});

const revoke = (form: Record<string, string>) => send(oauth, '/oauth/revoke', { form });
const revokeBearer = (accessToken: string) =>
  send(oauth, '/oauth/token', { method: 'DELETE', headers: bearer(accessToken) });
const info = (accessToken: string) => send(oauth, '/oauth/token/info', { method: 'GET', headers: bearer(accessToken) });
const isAlive = async (accessToken: string) => (await info(accessToken)).status === 200;

describe('POST /oauth/revoke', () => {
  test.each(['access_token', 'refresh_token'] as const)(
    'by its %s a whole grant ends, and only that',
    async (which) => {
      const first = await signIn(oauth, asClient(application));
      const other = await signIn(oauth, asClient(application));
      const form = { grant_type: 'refresh_token', refresh_token: first.refresh_token, ...asClient(application) };
      const second = expectTokens(await token(oauth, { form }), 'me');

      expectAnswer(await revoke({ token: second[which], ...asClient(application) }), {});

      expect(await isAlive(first.access_token)).toBe(false);
      expect(await isAlive(second.access_token)).toBe(false);
      const renewal = { ...form, refresh_token: second.refresh_token };
      expectRefusal(await token(oauth, { form: renewal }), 400, 'invalid_grant');
      expect(await isAlive(other.access_token)).toBe(true);
    },
  );

  test('a token that is unknown, ended already or no token at all is answered the same', async () => {
    const { access_token } = await signIn(oauth, asClient(application));

    for (const text of [
      access_token,
      access_token,
      'nonsense',
      `${access_token}x`,
      access_token.replace('_at_', '_rt_'),
    ]) {
      expectAnswer(await revoke({ token: text, ...asClient(application) }), {});
    }
  });

  test('a hint does not matter, whether right, wrong or unknown', async () => {
    for (const token_type_hint of ['access_token', 'refresh_token', 'nonsense']) {
      const { access_token } = await signIn(oauth, asClient(application));

      expectAnswer(await revoke({ token: access_token, token_type_hint, ...asClient(application) }), {});

      expect(await isAlive(access_token)).toBe(false);
    }
  });

  test("another client's token is answered the same, and nothing happens to it", async () => {
    const { access_token, refresh_token } = await signIn(oauth, asClient(application));
    const neighbour = await createApplication(oauth, { scopes: ['me'] });
    const organizationId = await createOrganization(oauth.database);
    const foreign = await createApplication(oauth, { scopes: ['me'], organizationId });

    for (const client of [neighbour, foreign]) {
      expectAnswer(await revoke({ token: access_token, ...asClient(client) }), {});
      expectAnswer(await revoke({ token: refresh_token, ...asClient(client) }), {});
    }

    expect(await isAlive(access_token)).toBe(true);
  });

  test('the client authenticates as it did for the grant', async () => {
    const mobile = await createApplication(oauth, { scopes: ['app', 'me'], mobileApp: 'password' });
    const publicClient = await createApplication(oauth, { scopes: ['me'], confidential: false });
    const named = { client_id: mobile.clientId };
    const [withSecret, without, own] = [
      await signIn(oauth, asClient(mobile)),
      await signIn(oauth, named),
      await issueOwn(oauth, mobile, 'app'),
    ];
    const ofPublic = await signIn(oauth, { client_id: publicClient.clientId });

    expectRefusal(await revoke({ token: withSecret.access_token, ...named }), 401, 'invalid_client');
    expectRefusal(await revoke({ token: own.access_token, ...named }), 401, 'invalid_client');
    expect(await isAlive(withSecret.access_token)).toBe(true);
    expect(await isAlive(own.access_token)).toBe(true);
    expectAnswer(await revoke({ token: without.access_token, ...named }), {});
    expectAnswer(await revoke({ token: ofPublic.access_token, client_id: publicClient.clientId }), {});
    expect(await isAlive(without.access_token)).toBe(false);
    expect(await isAlive(ofPublic.access_token)).toBe(false);
  });

  test('who is no client is refused, and so is a request without a token or with one in its query', async () => {
    const { access_token } = await signIn(oauth, asClient(application));

    expectRefusal(await revoke({ token: access_token }), 401, 'invalid_client');
    const wrong = { client_id: application.clientId, client_secret: 'wrong' };
    expectRefusal(await revoke({ token: access_token, ...wrong }), 401, 'invalid_client');
    expectRefusal(await revoke({}), 401, 'invalid_client');
    expectRefusal(await revoke(asClient(application)), 400, 'invalid_request');
    const query = `token=${access_token}`;
    const inQuery = await send(oauth, '/oauth/revoke', { query, form: asClient(application) });
    expectRefusal(inQuery, 400, 'invalid_request');
    expect(await isAlive(access_token)).toBe(true);
    const { clientId: id, secret } = application;
    const byBasic = await send(oauth, '/oauth/revoke', { form: { token: access_token }, basic: { id, secret } });
    expectAnswer(byBasic, {});
    expect(await isAlive(access_token)).toBe(false);
  });

  test('other methods get 405', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await send(oauth, '/oauth/revoke', { method });
      expectRefusal(answer, 405, 'invalid_request');
      expect(answer.headers.get('Allow')).toBe('POST');
    }
  });

  test('20 revocations of one grant at the same instant all succeed', async () => {
    const { access_token, refresh_token } = await signIn(oauth, asClient(application));

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        revoke({ token: index % 2 ? access_token : refresh_token, ...asClient(application) }),
      ),
    );

    for (const answer of answers) expectAnswer(answer, {});
    expect(await isAlive(access_token)).toBe(false);
  });

  test('issuing, renewing and revoking one grant at the same time never fail each other', async () => {
    const own = await createApplication(oauth, { scopes: ['app'] });
    const first = await issueOwn(oauth, own, 'app');
    const issue = () => token(oauth, { form: { grant_type: 'client_credentials', ...asClient(own) } });
    const renew = () =>
      token(oauth, { form: { grant_type: 'refresh_token', refresh_token: first.refresh_token, ...asClient(own) } });
    const end = async () => revoke({ token: String((await issue()).body.access_token), ...asClient(own) });

    const answers = await Promise.all(Array.from({ length: 10 }, () => [issue(), renew(), end()]).flat());

    for (const [index, { status }] of answers.entries()) {
      // A renewal comes too late once the grant has ended.
      expect(index % 3 === 1 ? [200, 400] : [200]).toContain(status);
    }
  });
});

describe('DELETE /oauth/token', () => {
  test('ends the grant of the token that it carries; repeated it is 401', async () => {
    const { access_token, refresh_token } = await signIn(oauth, asClient(application));
    const other = await signIn(oauth, asClient(application));

    expectAnswer(await revokeBearer(access_token), {});

    const repeated = await revokeBearer(access_token);
    expectRefusal(repeated, 401, 'invalid_token');
    expect(repeated.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
    const form = { grant_type: 'refresh_token', refresh_token, ...asClient(application) };
    expectRefusal(await token(oauth, { form }), 400, 'invalid_grant');
    expect(await isAlive(other.access_token)).toBe(true);
  });

  test('is refused without a token, with one of another kind, and with one in the query', async () => {
    const { access_token, refresh_token } = await signIn(oauth, asClient(application));
    const deletion = { method: 'DELETE' };

    const missing = await send(oauth, '/oauth/token', deletion);
    expectRefusal(missing, 401, 'invalid_token');
    expect(missing.headers.get('WWW-Authenticate')).toBe('Bearer realm="graph-query-service"');
    expectRefusal(await revokeBearer(refresh_token), 401, 'invalid_token');
    const query = `access_token=${access_token}`;
    expectRefusal(await send(oauth, '/oauth/token', { ...deletion, query }), 401, 'invalid_token');
    const both = await send(oauth, '/oauth/token', { ...deletion, query, headers: bearer(access_token) });
    expectRefusal(both, 400, 'invalid_request');
    expect(await isAlive(access_token)).toBe(true);
  });
});

import { request } from 'node:http';
import { hashToken } from '../../src/token/accessTokens.ts';
import {
  asClient,
  bearer,
  createApplication,
  expectAnswer,
  expectRefusal,
  issueOwn,
  type OauthTest,
  send,
  shareOauthTest,
  signIn,
  type TestApplication,
} from './support.ts';

let oauth: OauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'basic', 'me'] });
});

const path = '/oauth/token/info';
const info = (headers: Record<string, string>, more: { query?: string; method?: string } = {}) =>
  send(oauth, path, { method: 'GET', headers, ...more });

test("an application's own token has no owner", async () => {
  const { access_token } = await issueOwn(oauth, application, 'app basic');

  const answer = await info(bearer(access_token));

  expectAnswer(answer, {
    resource_owner_id: null,
    scope: ['app', 'basic'],
    expires_in: expect.any(Number),
    application: { uid: application.clientId },
    created_at: expect.any(Number),
  });
  expect(Math.abs(Number(answer.body.created_at) - Date.now() / 1000)).toBeLessThan(10);
});

test("a person's token has its owner", async () => {
  const { access_token } = await signIn(oauth, asClient(application));

  expect((await info(bearer(access_token))).body).toMatchObject({
    resource_owner_id: expect.stringMatching(/./),
    scope: ['me'],
  });
});

test('expires_in is what is left', async () => {
  const { access_token } = await issueOwn(oauth, application, 'app');
  const expireIn = (interval: string) =>
    oauth.database.owner.query(
      'update oauth.access_tokens set expires_at = now() + $2::interval where token_hash = $1',
      [hashToken(access_token), interval],
    );

  const fresh = Number((await info(bearer(access_token))).body.expires_in);
  await expireIn('100 seconds');
  const later = Number((await info(bearer(access_token))).body.expires_in);

  expect([fresh > 7190, fresh <= 7200]).toEqual([true, true]);
  expect([later > 90, later <= 100]).toEqual([true, true]);
  await expireIn('0 seconds');
  expectRefusal(await info(bearer(access_token)), 401, 'invalid_token');
});

test('the token is taken from the header only', async () => {
  const { access_token } = await issueOwn(oauth, application, 'app');
  const query = `access_token=${access_token}`;

  expectRefusal(await info({}, { query }), 401, 'invalid_token');
  expectRefusal(await info(bearer(access_token), { query }), 400, 'invalid_request');
  expectRefusal(await info({ Authorization: `Basic ${access_token}` }), 401, 'invalid_token');
  const twice = await new Promise((resolve, reject) => {
    const { Authorization } = bearer(access_token);
    const headers = ['Authorization', Authorization, 'Authorization', Authorization, 'Host', 'localhost'];
    const sent = request(`${oauth.url}${path}`, { headers });
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    sent.end();
  });
  expect(twice).toBe(401);
  expect((await info(bearer(access_token))).status).toBe(200);
});

test('without a token there is a bare challenge, with a wrong one its error', async () => {
  const { refresh_token } = await issueOwn(oauth, application, 'app');

  const missing = await info({});
  expectRefusal(missing, 401, 'invalid_token');
  expect(missing.headers.get('WWW-Authenticate')).toBe('Bearer realm="graph-query-service"');
  for (const Authorization of [`Bearer ${refresh_token}`, 'Bearer', 'Bearer x', 'Bearer a b']) {
    const answer = await info({ Authorization });
    expectRefusal(answer, 401, 'invalid_token');
    expect(answer.headers.get('WWW-Authenticate')).toMatch(/^Bearer .*error="invalid_token"/);
  }
});

test('HEAD is GET without a body, other methods get 405', async () => {
  const { access_token } = await issueOwn(oauth, application, 'app');

  expect((await info(bearer(access_token), { method: 'HEAD' })).status).toBe(200);
  for (const method of ['POST', 'DELETE']) {
    const answer = await info(bearer(access_token), { method });
    expectRefusal(answer, 405, 'invalid_request');
    expect(answer.headers.get('Allow')).toBe('GET, HEAD');
  }
});

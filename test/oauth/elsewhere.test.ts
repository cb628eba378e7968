import { preparesStatements } from '../support/database.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { startTestService, testSecretKey } from '../support/service.ts';
import {
  asClient,
  bearer,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  issueOwn,
  type OauthTest,
  send,
  shareOauthTest,
  signIn,
  type TestApplication,
  type Tokens,
  token,
} from './support.ts';

// A token that ends in one process has ended in another on the same database, from the next request on.

let oauth: OauthTest;
let other: TestProcess;
let elsewhere: { url: string };
let application: TestApplication;
beforeAll(async () => {
  oauth = await shareOauthTest();
  other = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: oauth.database.authUrl,
    DATABASE_PREPARED_STATEMENTS: String(preparesStatements()),
    SECRET_KEY: testSecretKey,
    ...testPasswordCost,
    ...throttles,
    LOG_LEVEL: 'warn',
  });
  await other.says('Graph Query Service: http');
  elsewhere = { url: /http:\S+/.exec(other.output.stdout)?.[0] ?? '' };
  application = await createApplication(oauth, { scopes: ['app', 'me'] });
});
afterAll(async () => {
  other.signal('SIGTERM');
  await other.exited;
});

/** How the other process answers an access token at each endpoint that takes one, and a refresh token. */
async function answers({ access_token, refresh_token }: Tokens, field: string): Promise<number[]> {
  const graph = await send(elsewhere, '/graphql', {
    headers: { ...bearer(access_token), 'Content-Type': 'application/json' },
    raw: { body: JSON.stringify({ query: `{ ${field} { __typename } }` }) },
  });
  const info = await send(elsewhere, '/oauth/token/info', { method: 'GET', headers: bearer(access_token) });
  const introspected = await send(elsewhere, '/oauth/introspect', {
    form: { token: access_token, ...asClient(application) },
  });
  const renewable = await send(elsewhere, '/oauth/introspect', {
    form: { token: refresh_token, ...asClient(application) },
  });
  return [graph.status, info.status, Number(introspected.body.active), Number(renewable.body.active)];
}

const live = [200, 200, 1, 1];
const ended = [401, 401, 0, 0];

async function expectEnded(tokens: Tokens, field: string): Promise<void> {
  expect(await answers(tokens, field)).toEqual(ended);
  const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...asClient(application) };
  expectRefusal(await token(elsewhere, { form }), 400, 'invalid_grant');
}

test('a token that is revoked', async () => {
  const [own, person] = [await issueOwn(oauth, application, 'app'), await signIn(oauth, asClient(application))];
  expect(await answers(own, 'app')).toEqual(live);
  expect(await answers(person, 'viewer')).toEqual(live);

  const revoked = await send(oauth, '/oauth/revoke', {
    form: { token: person.refresh_token, ...asClient(application) },
  });
  expect(revoked.status).toBe(200);

  await expectEnded(person, 'viewer');
  expect(await answers(own, 'app')).toEqual(live);
});

test('a token that is revoked by its bearer', async () => {
  const [one, two] = [await signIn(oauth, asClient(application)), await signIn(oauth, asClient(application))];
  expect(await answers(one, 'viewer')).toEqual(live);

  const revoked = await send(oauth, '/oauth/token', { method: 'DELETE', headers: bearer(one.access_token) });
  expect(revoked.status).toBe(200);

  await expectEnded(one, 'viewer');
  expect(await answers(two, 'viewer')).toEqual(live);
});

test('a person who is deleted', async () => {
  const own = await issueOwn(oauth, application, 'app');
  const [person, bystander] = [await signIn(oauth, asClient(application)), await signIn(oauth, asClient(application))];
  await oauth.database.owner.query('update app_public.users set external_identifier = $2 where id = $1', [
    person.user.id,
    'leaver',
  ]);
  expect(await answers(person, 'viewer')).toEqual(live);

  const deleted = await send(oauth, '/graphql', {
    headers: { ...bearer(own.access_token), 'Content-Type': 'application/json' },
    raw: { body: JSON.stringify({ query: 'mutation { userDelete(externalIdentifier: "leaver") { user { id } } }' }) },
  });
  expect(deleted.body).toEqual({ data: { userDelete: { user: { id: expect.any(String) } } } });

  await expectEnded(person, 'viewer');
  const { email, password } = person.user;
  const form = { grant_type: 'password', username: email, password, ...asClient(application) };
  expectRefusal(await token(elsewhere, { form }), 400, 'invalid_grant');
  expect(await answers(bystander, 'viewer')).toEqual(live);
});

test('a person who is locked out', async () => {
  const here = await startTestService(oauth.database, throttles);
  const user = await createUser(oauth);
  const client = asClient(application);
  const form = (password: string) => ({ grant_type: 'password', username: user.email, password, ...client });

  expectRefusal(await token(here, { form: form('wrong') }), 400, 'invalid_grant');
  expectTokens(await token(elsewhere, { form: form(user.password) }), 'me');
  expectRefusal(await token(elsewhere, { form: form('wrong') }), 400, 'invalid_grant');

  expectRefusal(await token(elsewhere, { form: form(user.password) }), 429, 'too_many_requests');
  expectRefusal(await token(here, { form: form(user.password) }), 429, 'too_many_requests');
  await here.stop();
});

/** Two failures of one account are too many; what other files have sent from here is not. */
const throttles = {
  THROTTLE_REQUESTS_PER_MINUTE: '1000000',
  THROTTLE_FAILURES_PER_MINUTE: '1000000',
  THROTTLE_FAILURES_PER_ACCOUNT: '2',
};

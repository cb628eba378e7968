import { preparedStatements } from '../support/database.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
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
  startOauthTest,
  type TestApplication,
  type Tokens,
  token,
} from './support.ts';

// What ends here has ended there: in another process on the same database, from the next request on.

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
    DATABASE_PREPARED_STATEMENTS: String(preparedStatements),
    SECRET_KEY: testSecretKey,
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
  const strict = await startOauthTest({ THROTTLE_FAILURES_PER_ACCOUNT: '2' });
  const client = await createApplication(strict, { scopes: ['me'] });
  const user = await createUser(strict);
  const process2 = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: strict.database.authUrl,
    DATABASE_PREPARED_STATEMENTS: String(preparedStatements),
    SECRET_KEY: testSecretKey,
    THROTTLE_FAILURES_PER_ACCOUNT: '2',
    LOG_LEVEL: 'warn',
  });
  await process2.says('Graph Query Service: http');
  const there = { url: /http:\S+/.exec(process2.output.stdout)?.[0] ?? '' };
  const form = (password: string) => ({ grant_type: 'password', username: user.email, password, ...asClient(client) });

  expectRefusal(await token(strict, { form: form('wrong') }), 400, 'invalid_grant');
  expectTokens(await token(there, { form: form(user.password) }), 'me');
  expectRefusal(await token(there, { form: form('wrong') }), 400, 'invalid_grant');

  expectRefusal(await token(there, { form: form(user.password) }), 400, 'invalid_grant');
  expectRefusal(await token(strict, { form: form(user.password) }), 400, 'invalid_grant');
  process2.signal('SIGTERM');
  await process2.exited;
  await strict.stop();
});

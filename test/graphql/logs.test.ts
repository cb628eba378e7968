import { inspect } from 'node:util';
import {
  asClient,
  createApplication,
  createUser,
  expectTokens,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  type TestUser,
  token,
} from '../oauth/support.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { ask } from './support.ts';

// For any request and failure, the log at its most detailed level has no credential, no query and no value.

let service: OauthTest;
let application: TestApplication;
let user: TestUser;
const printed: string[] = [];
const realConsole = { ...console };
beforeAll(async () => {
  // Libraries print to the console what they think a developer should read.
  for (const method of ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const)
    console[method] = (...values: unknown[]) => void printed.push(inspect(values, { depth: 10 }));
  service = await shareOauthTest();
  application = await createApplication(service, {
    scopes: ['app', 'me'],
    secret: 'marker-client-secret-of-32-characters',
    mobileApp: 'external_authentication_token',
  });
  user = await createUser(service, { password: 'marker-password-of-the-user' });
});
afterAll(async () => {
  Object.assign(console, realConsole);
});

/** Runs it, and returns all that was logged and printed meanwhile. */
async function logged(work: () => Promise<unknown>): Promise<string> {
  const before = [service.logs.length, printed.length] as const;
  await work();
  return [...service.logs.slice(before[0]), ...printed.slice(before[1])].join('\n');
}

function expectSecret(text: string, secrets: string[]): void {
  expect(text).not.toBe('');
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThanOrEqual(8);
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')])
      expect(text).not.toContain(form);
  }
}

const appToken = async () =>
  expectTokens(
    await token(service, { form: { grant_type: 'client_credentials', scope: 'app', ...asClient(application) } }),
    'app',
  );

test('signing in, with right and with wrong credentials', async () => {
  const external = { grant_type: 'password', scope: 'me', ...asClient(application) };
  let tokens: string[] = [];

  const text = await logged(async () => {
    const own = await appToken();
    const person = await token(service, {
      form: { ...external, external_authentication_token: user.externalAuthenticationToken },
    });
    tokens = [own, expectTokens(person, 'me')].flatMap((reply) => [reply.access_token, reply.refresh_token]);
    await token(service, {
      form: { grant_type: 'refresh_token', refresh_token: own.refresh_token, ...asClient(application) },
    });
    await token(service, { form: { ...external, username: user.email, password: user.password } });
    await token(service, { form: { ...external, external_authentication_token: 'marker-wrong-external-token' } });
    await token(service, { form: { ...external, client_secret: 'marker-wrong-client-secret' } });
    await token(service, {
      query: `grant_type=password&scope=me&client_id=${application.clientId}&external_authentication_token=marker-token-in-the-query`,
    });
    await token(service, { basic: { id: application.clientId, secret: 'marker-basic-secret' }, form: external });
    await token(service, { raw: { body: '{"password":"marker-password-in-json"', type: 'application/json' } });
  });

  expectSecret(text, [
    ...tokens,
    application.secret,
    user.externalAuthenticationToken,
    user.password,
    'marker-wrong-external-token',
    'marker-wrong-client-secret',
    'marker-token-in-the-query',
    'marker-basic-secret',
    'marker-password-in-json',
  ]);
});

test('queries and mutations, when they succeed and when they are refused', async () => {
  const { access_token } = await appToken();
  const markers: string[] = [];
  const marker = (name: string) => {
    markers.push(`marker-${name}-of-graphql`);
    return `marker-${name}-of-graphql`;
  };
  const create =
    'mutation($name: String!, $email: String!, $token: String) { userCreate(fullName: $name, email: $email, externalAuthenticationToken: $token) { user { externalAuthenticationToken } } }';

  const text = await logged(async () => {
    const values = { name: marker('name'), email: `${marker('email')}@acme.test`, token: marker('token') };
    await ask(service, access_token, create, values);
    // Each rule that PostgreSQL itself finds broken, whose own message has the row in it.
    await ask(service, access_token, create, values);
    await ask(service, access_token, create, { ...values, email: `${marker('second')}@@acme.test` });
    await ask(service, access_token, create, { ...values, email: 'x@acme.test', name: `\n${marker('line')}\n\0` });
    await ask(service, access_token, `{ app { users(externalIdentifiers: ["${marker('filter')}"]) { totalCount } } }`);
    await ask(service, access_token, `{ app { users(after: "${marker('cursor')}") { totalCount } } }`);
    await ask(service, access_token, `{ node(id: "${marker('id')}") { id } }`);
    await ask(service, access_token, `{ ${marker('unparsable')} `);
    await ask(service, access_token, '{ node(id: $id) { id } }', { id: marker('undeclared') });
    await ask(service, access_token, 'query($n: Int) { app { users(first: $n) { totalCount } } }', {
      n: marker('type'),
    });
    await ask(service, marker('bearer'), '{ app { name } }');
    await ask(service, null, `{ viewer { id } } # ${marker('comment')}`);
    for (const path of [
      `?query={app{name}}&variables=${marker('variables')}`,
      `/${marker('path').length}?x=${marker('query')}`,
    ])
      await fetch(`${service.url}/graphql${path}`, { headers: { Authorization: `Bearer ${access_token}` } });
    for (const body of [`{"query": "${marker('body')}`, Buffer.from(marker('bytes'), 'utf16le')])
      await fetch(`${service.url}/graphql`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
  });

  expectSecret(text, [access_token, ...markers]);
  expect(text).toContain('"path":"/graphql"');
});

test('a defect of our own, whose cause is logged', async () => {
  const { access_token } = await appToken();
  const { owner } = service.database;
  const sealed = 'external_authentication_token_ciphertext';
  const other = await createUser(service);
  await owner.query(
    `update app_public.users set ${sealed} = (select ${sealed} from app_public.users where id = $1) where id = $2`,
    [user.id, other.id],
  );

  const text = await logged(() =>
    ask(service, access_token, '{ app { users { nodes { email externalAuthenticationToken } } } }'),
  );

  expect(text).toContain('a field failed');
  expectSecret(text, [access_token, user.externalAuthenticationToken, other.externalAuthenticationToken, user.email]);
});

test('a database that goes away and comes back', async () => {
  const { access_token } = await appToken();
  const query = '{ app { name } }';
  const { owner, authUrl } = service.database;
  const name = new URL(authUrl).pathname.slice(1);

  const text = await logged(async () => {
    await owner.query(`alter database ${name} connection limit 0`);
    await owner.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    expect((await ask(service, access_token, query)).status).toBe(503);
    await owner.query(`alter database ${name} connection limit -1`);
    // By way of a pooler a moment later.
    await until(async () => (await ask(service, access_token, query)).status === 200);
  });

  expectSecret(text, [access_token, new URL(authUrl).password, testSecretKey]);
});

test('a line of the log has a sentence of ours and plain facts beside it', () => {
  for (const line of service.logs) {
    // Slow and failed operations have more fields, and what PostgreSQL said of a connection; other tests check these.
    const {
      msg,
      error,
      reason = '',
      cause: _cause,
      document: _document,
      statements: _statements,
      plan: _plan,
      ...facts
    } = JSON.parse(line);
    for (const sentence of [msg, error?.message ?? '', reason]) expect(sentence).not.toMatch(/[{}"]/);
    for (const fact of Object.values(facts)) expect(String(fact)).toMatch(/^[\w./:-]{1,100}$/);
  }
  expect(service.logs.length).toBeGreaterThan(30);
});

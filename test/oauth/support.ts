import { randomBytes, randomUUID } from 'node:crypto';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { hashToken } from '../../src/token/accessTokens.ts';
import type { Scope } from '../../src/token/scopes.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { testPasswords } from '../support/passwords.ts';
import { startTestService, type TestService, testSecretKey, unthrottled } from '../support/service.ts';
import { type SharedService, shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';

/** A service and an organization of the file's own. */
export type OauthTest = SharedService & { organizationId: string };

/** Where a service is, and what a test writes there by itself. */
export type OauthPlace = Pick<OauthTest, 'url' | 'organizationId'> & { database: Pick<TestDatabase, 'owner'> };

export async function shareOauthTest(): Promise<OauthTest> {
  const service = await shareService();
  return { ...service, organizationId: await createOrganization(service.database) };
}

/** A service with a database of its own, too: for files that change the configuration or what belongs to no tenant. */
export type OwnOauthTest = TestService & OauthTest;

export async function startOauthTest(overrides: Record<string, string> = {}): Promise<OwnOauthTest> {
  const database = await createTestDatabase();
  const service = await startTestService(database, { ...unthrottled, ...overrides });
  const organizationId = await createOrganization(database);
  const stop = async () => {
    await service.stop();
    await database.drop();
  };
  return { ...service, stop, database, organizationId };
}

export async function createOrganization({ owner }: TestDatabase): Promise<string> {
  const { rows } = await owner.query('insert into app_hidden.organizations (name) values ($1) returning id', [
    `Organization ${randomUUID()}`,
  ]);
  return rows[0].id;
}

export type TestApplication = { id: string; clientId: string; secret: string; organizationId: string };

type ApplicationOptions = {
  organizationId?: string;
  clientId?: string;
  secret?: string;
  scopes?: Scope[];
  confidential?: boolean;
  redirectUris?: string[];
  mobileApp?: 'password' | 'external_authentication_token';
};

export async function createApplication(test: OauthPlace, options: ApplicationOptions = {}): Promise<TestApplication> {
  const { organizationId = test.organizationId, confidential = true } = options;
  const clientId = options.clientId ?? `client-${randomUUID()}`;
  const secret = options.secret ?? randomBytes(32).toString('base64url');
  const { rows } = await test.database.owner.query(
    `insert into oauth.applications (organization_id, name, client_id, confidential, scopes, mobile_app_authentication_type, redirect_uris)
     values ($1, 'Application', $2, $3, $4, $5, $6)
     returning id`,
    [
      organizationId,
      clientId,
      confidential,
      options.scopes ?? ['app'],
      options.mobileApp ?? null,
      options.redirectUris ?? [],
    ],
  );
  const application = { id: rows[0].id, clientId, secret, organizationId };
  if (confidential) await addSecret(test, application, secret);
  return application;
}

export async function addSecret(test: OauthPlace, application: TestApplication, secret: string): Promise<void> {
  await test.database.owner.query(
    'insert into oauth.application_secrets (organization_id, application_id, secret_hash) values ($1, $2, $3)',
    [application.organizationId, application.id, hashToken(secret)],
  );
}

export type TestUser = { id: string; email: string; password: string; externalAuthenticationToken: string };

type UserOptions = { organizationId?: string; email?: string; password?: string | null; disabled?: boolean };

/** A user who can sign in both ways; `password: null` leaves the password out. */
export async function createUser(test: OauthPlace, options: UserOptions = {}): Promise<TestUser> {
  const { organizationId = test.organizationId, email = `${randomUUID()}@example.test` } = options;
  const id = randomUUID();
  const externalAuthenticationToken = randomBytes(32).toString('base64url');
  await test.database.owner.query(
    `insert into app_public.users
       (organization_id, id, full_name, email, external_authentication_token_ciphertext, external_authentication_token_hash)
     values ($1, $2, 'Ada Lovelace', $3, $4, $5)`,
    [
      organizationId,
      id,
      email,
      secrets.seal(externalAuthenticationToken, { organizationId, userId: id }),
      secrets.lookupHash(externalAuthenticationToken, organizationId),
    ],
  );
  const { password = commonPassword } = options;
  await test.database.owner.query(
    `insert into oauth.credentials (organization_id, user_id, password_hash, disabled_at)
     values ($1, $2, $3, case when $4 then now() end)`,
    [organizationId, id, password && (await testPasswords.hash(password)), options.disabled ?? false],
  );
  return { id, email, password: password ?? '', externalAuthenticationToken };
}

export const secrets = createSecrets([Buffer.from(testSecretKey, 'base64')]);

export const commonPassword = 'correct horse battery';

export type Answer = { status: number; headers: Headers; text: string; body: Record<string, unknown> };

/** A client's request: form parameters, or a raw body. */
export type Sent = {
  form?: Record<string, string> | [string, string][];
  raw?: { body: string | Uint8Array<ArrayBuffer>; type?: string };
  basic?: { id: string; secret: string };
  headers?: Record<string, string>;
  query?: string;
  method?: string;
};

export async function send(test: { url: string }, path: string, sent: Sent): Promise<Answer> {
  const headers = new Headers(sent.headers);
  if (sent.basic) headers.set('Authorization', basic(sent.basic.id, sent.basic.secret));
  if (sent.raw?.type) headers.set('Content-Type', sent.raw.type);
  const body = sent.form ? new URLSearchParams(sent.form) : (sent.raw?.body ?? null);
  const response = await fetch(`${test.url}${path}${sent.query ? `?${sent.query}` : ''}`, {
    method: sent.method ?? 'POST',
    headers,
    body,
  });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('Content-Type')?.startsWith('application/json');
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} };
}

export const token = (test: { url: string }, sent: Sent) => send(test, '/oauth/token', sent);

export function basic(id: string, secret: string): string {
  const encoded = [id, secret].map((part) => new URLSearchParams({ part }).toString().slice('part='.length));
  return `Basic ${Buffer.from(encoded.join(':')).toString('base64')}`;
}

/** The form parameters by which an application authenticates. */
export const asClient = ({ clientId, secret }: TestApplication) => ({ client_id: clientId, client_secret: secret });

/** The answer is this refusal and nothing more: status, body, challenge and caching (RFC 6749 section 5.2). */
export function expectRefusal(answer: Answer, status: number, error: string): void {
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status, error });
  expect(Object.keys(answer.body)).toEqual(['error', 'error_description']);
  expect(answer.body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  expectUncached(answer);
  const challenge = answer.headers.get('WWW-Authenticate');
  if (status === 401) expect(challenge).toMatch(/^(Basic|Bearer) realm="graph-query-service"/);
  else expect(challenge).toBeNull();
}

/** The answer is a token reply with every member that the specification promises. */
export function expectTokens(answer: Answer, scope: string): Tokens {
  expect({ status: answer.status, error: answer.body.error }).toEqual({ status: 200, error: undefined });
  expect(answer.body).toMatchObject({
    access_token: expect.stringMatching(/^gqs_at_[\w-]{49}$/),
    token_type: 'bearer',
    expires_in: 7200,
    refresh_token: expect.stringMatching(/^gqs_rt_[\w-]{49}$/),
    scope,
    created_at: expect.any(Number),
  });
  expectUncached(answer);
  expect(answer.headers.get('WWW-Authenticate')).toBeNull();
  return answer.body as Tokens;
}

/** The answer is 200 with exactly this, and no cache may store it. */
export function expectAnswer(answer: Answer, body: unknown): void {
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 200, body });
  expectUncached(answer);
  expect(answer.headers.get('WWW-Authenticate')).toBeNull();
}

export type Tokens = { access_token: string; refresh_token: string };

/** Tokens of the application's own. */
export async function issueOwn(test: OauthPlace, application: TestApplication, scope: string): Promise<Tokens> {
  const form = { grant_type: 'client_credentials', scope, ...asClient(application) };
  return expectTokens(await token(test, { form }), scope);
}

/** Tokens of a new person, who signs in by password through the client that these form parameters name. */
export async function signIn(
  test: OauthPlace,
  client: Record<string, string>,
  options: UserOptions = {},
): Promise<Tokens & { user: TestUser }> {
  const user = await createUser(test, options);
  const form = { grant_type: 'password', username: user.email, password: user.password, ...client };
  return { ...expectTokens(await token(test, { form }), 'me'), user };
}

/**
 * Resolves when so many requests wait for a lock. Each look is a transaction of its own, since one sees the same until it
 * ends.
 */
export async function untilWaiting({ database: { owner } }: OauthTest, count: number): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => (await owner.query(waiting)).rowCount === count);
}

export const bearer = (accessToken: string) => ({ Authorization: `Bearer ${accessToken}` });

function expectUncached(answer: Answer): void {
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
  expect(answer.headers.get('Pragma')).toBe('no-cache');
  expect(answer.headers.get('Content-Type')).toMatch(/^application\/json/);
}

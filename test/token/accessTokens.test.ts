import type { Pool } from 'pg';
import { loadConfig } from '../../src/config.ts';
import type { Statement } from '../../src/database/driver/driver.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { noRequest } from '../../src/observability/requestFields.ts';
import {
  type AccessToken,
  createToken,
  createTokenVerifier,
  InvalidTokenError,
  type TokenVerifier,
} from '../../src/token/accessTokens.ts';
import { graphSettings } from '../../src/token/settings.ts';
import { queryInImplicitTransaction } from '../../src/token/transaction.ts';
import { asClient, createApplication, expectTokens, type OauthTest, shareOauthTest, token } from '../oauth/support.ts';

let oauth: OauthTest;
let pool: Pool;
let verifyToken: TokenVerifier;
beforeAll(async () => {
  oauth = await shareOauthTest();
  const { authUrl: AUTH_DATABASE_URL } = oauth.database;
  const environment = { AUTH_DATABASE_URL, SECRET_KEY: Buffer.alloc(32).toString('base64'), DATABASE_POOL_SIZE: '1' };
  pool = createPool(AUTH_DATABASE_URL, loadConfig(environment, 'serve'), createLog('silent'));
  verifyToken = createTokenVerifier({ pool, oauthPool: pool });
});
afterAll(async () => {
  await pool.end();
});

async function issue() {
  const application = await createApplication(oauth, { scopes: ['basic', 'app'] });
  const form = { grant_type: 'client_credentials', ...asClient(application) };
  return { application, text: expectTokens(await token(oauth, { form }), 'app basic').access_token };
}

async function bring(text: string): Promise<AccessToken> {
  const accessToken = await verifyToken(text, noRequest);
  if (!accessToken) throw new Error('The token is live');
  return accessToken;
}

/** Reads the application's name as the holder of the token, and returns whether there was a check. */
async function readName(accessToken: AccessToken, claims = accessToken.claims, statement: Statement = nameQuery) {
  let wasChecked: boolean | null = null;
  const rows = await accessToken.withTokenCheck(async (check) => {
    wasChecked = check !== null;
    const client = await pool.connect();
    try {
      const settings = graphSettings(claims, noRequest, 100);
      return (await queryInImplicitTransaction<{ name: string }>(client, settings, statement, check)).rows;
    } finally {
      client.release();
    }
  });
  return { names: rows.map(({ name }) => name), wasChecked };
}

const nameQuery = { text: 'select name from app_public.app' };

const end = (text: string) =>
  oauth.database.owner.query("delete from oauth.access_tokens where token_hash = sha256(convert_to($1, 'utf8'))", [
    text,
  ]);

test('a token proves itself with the first work of each request, also of the request that has looked it up', async () => {
  const { text } = await issue();

  for (const request of [await bring(text), await bring(text)]) {
    expect(await readName(request)).toEqual({ names: [expect.any(String)], wasChecked: true });
    expect(await readName(request)).toEqual({ names: [expect.any(String)], wasChecked: false });
  }
});

test('it proves itself after however many statements, on the one connection', async () => {
  const { text } = await issue();
  await bring(text);
  // Alone it is a statement like any other.
  await (await bring(text)).requireLive();
  const statement = { name: 'long', text: `select name from app_public.app -- ${'x'.repeat(40_000)}` };

  const checks = [];
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    checks.push((await readName(await bring(text), undefined, { ...statement, name: `long-${number}` })).wasChecked);

  expect(checks).toEqual(Array(10).fill(true));
});

test.each([
  ['revoked', ({ text }: Issued) => end(text)],
  [
    'expired',
    ({ text }: Issued) =>
      oauth.database.owner.query(
        "update oauth.access_tokens set expires_at = now() - interval '1 second' where token_hash = sha256(convert_to($1, 'utf8'))",
        [text],
      ),
  ],
  [
    'its application is disabled',
    ({ application }: Issued) =>
      oauth.database.owner.query('update oauth.applications set disabled_at = now() where id = $1', [application.id]),
  ],
])('one that has ended opens nothing, though it is remembered: %s', async (_how, finish) => {
  const issued = await issue();
  const before = await bring(issued.text);
  await readName(before);
  const remembered = await bring(issued.text);
  const asked = await bring(issued.text);

  await finish(issued);

  await expect(readName(remembered)).rejects.toThrow(InvalidTokenError);
  await expect(readName(remembered)).rejects.toThrow(InvalidTokenError);
  await expect(asked.requireLive()).rejects.toThrow(InvalidTokenError);
  expect(await verifyToken(issued.text, noRequest)).toBeNull();
  // A token that was found live stays live for the rest of its request.
  expect(await readName(before)).toMatchObject({ names: [expect.any(String)] });
});

type Issued = Awaited<ReturnType<typeof issue>>;

test.each([
  ['the organization', { organizationId: '00000000-0000-7000-8000-000000000000' }],
  ['the application', { applicationId: '00000000-0000-7000-8000-000000000000' }],
  ['the person', { userId: '00000000-0000-7000-8000-000000000000' }],
  ['the grant', { grantId: '00000000-0000-7000-8000-000000000000' }],
  ['the scopes', { scopes: ['app'] as const }],
])('claims that are not those of the token open nothing: %s', async (_what, other) => {
  const { text } = await issue();
  await bring(text);
  const remembered = await bring(text);

  await expect(readName(remembered, { ...remembered.claims, ...other })).rejects.toThrow(InvalidTokenError);
  expect(await readName(await bring(text))).toMatchObject({ names: [expect.any(String)] });
});

test('a failure of what relies on it says nothing about the token', async () => {
  const { text } = await issue();
  await bring(text);
  const remembered = await bring(text);

  await expect(remembered.withTokenCheck(() => Promise.reject(new Error('away')))).rejects.toThrow('away');

  expect(await readName(remembered)).toMatchObject({ wasChecked: true });
  await expect(remembered.requireLive()).resolves.toBeUndefined();
});

test('what was never issued is null', async () => {
  expect(await verifyToken(createToken('access'), noRequest)).toBeNull();
  expect(await verifyToken('gqs_at_nonsense', noRequest)).toBeNull();
});

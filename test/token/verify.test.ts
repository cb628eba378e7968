import type { Pool } from 'pg';
import { loadConfig } from '../../src/config.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { noRequest } from '../../src/observability/requestFields.ts';
import { createToken, hashToken, verifyBearer } from '../../src/token/accessTokens.ts';
import {
  asClient,
  createApplication,
  createUser,
  expectTokens,
  type OauthTest,
  shareOauthTest,
  token,
} from '../oauth/support.ts';

let oauth: OauthTest;
let pool: Pool;
beforeAll(async () => {
  oauth = await shareOauthTest();
  const { authUrl: AUTH_DATABASE_URL } = oauth.database;
  const environment = { AUTH_DATABASE_URL, SECRET_KEY: Buffer.alloc(32).toString('base64'), DATABASE_POOL_SIZE: '1' };
  pool = createPool(AUTH_DATABASE_URL, loadConfig(environment, 'serve'), createLog('silent'));
});
afterAll(async () => {
  await pool.end();
});

const verify = (text: string) => verifyBearer(pool, text, noRequest);

async function signIn() {
  const user = await createUser(oauth);
  const application = await createApplication(oauth, { scopes: ['app', 'basic', 'me'] });
  const form = { grant_type: 'password', username: user.email, password: user.password, ...asClient(application) };
  return { user, application, ...expectTokens(await token(oauth, { form }), 'me') };
}

test("a person's token says who, by which application, in which organization, until when", async () => {
  const { user, application, access_token } = await signIn();

  const claims = await verify(access_token);

  expect(claims).toEqual({
    organizationId: oauth.organizationId,
    applicationId: application.id,
    clientId: application.clientId,
    userId: user.id,
    grantId: expect.any(String),
    scopes: ['me'],
    createdAt: expect.any(Date),
    expiresAt: expect.any(Date),
  });
  expect(Number(claims?.expiresAt) - Number(claims?.createdAt)).toBe(7_200_000);
});

test("an application's own token names no person", async () => {
  const application = await createApplication(oauth, { scopes: ['basic', 'app'] });
  const form = { grant_type: 'client_credentials', ...asClient(application) };
  const { access_token } = expectTokens(await token(oauth, { form }), 'app basic');

  expect(await verify(access_token)).toMatchObject({ userId: null, scopes: ['app', 'basic'] });
});

test.each([
  ['expired', `update oauth.access_tokens set expires_at = now() where token_hash = $1`],
  ['revoked', `delete from oauth.access_tokens where token_hash = $1`],
  [
    'whose grant has ended',
    `delete from oauth.grants where id = (select grant_id from oauth.access_tokens where token_hash = $1)`,
  ],
  [
    'of a disabled person',
    `update oauth.credentials set disabled_at = now() where user_id =
       (select user_id from oauth.grants join oauth.access_tokens t on t.grant_id = id where token_hash = $1)`,
  ],
  [
    'of a deleted person',
    `delete from app_public.users where id =
       (select user_id from oauth.grants join oauth.access_tokens t on t.grant_id = id where token_hash = $1)`,
  ],
  [
    'of a disabled application',
    `update oauth.applications set disabled_at = now() where id =
       (select application_id from oauth.grants g join oauth.access_tokens t on t.grant_id = g.id where token_hash = $1)`,
  ],
])('a token %s is none', async (_, statement) => {
  const { access_token } = await signIn();
  expect(await verify(access_token)).not.toBeNull();

  const { rowCount } = await oauth.database.owner.query(statement, [hashToken(access_token)]);

  expect(rowCount).toBe(1);
  expect(await verify(access_token)).toBeNull();
});

test('an unknown token, a refresh token and a malformed one are none', async () => {
  const { refresh_token } = await signIn();

  expect(await verify(createToken('access'))).toBeNull();
  expect(await verify(refresh_token)).toBeNull();
  expect(await verify('nonsense')).toBeNull();
});

test('a malformed token does not reach the database', async () => {
  const unreachable = { connect: () => Promise.reject(new Error('reached')) } as unknown as Pool;

  expect(await verifyBearer(unreachable, 'gqs_at_nonsense', noRequest)).toBeNull();
  await expect(verifyBearer(unreachable, createToken('access'), noRequest)).rejects.toThrow('reached');
});

test('the connection has no claims afterwards, also after an error', async () => {
  const { access_token } = await signIn();
  const whoAmI = async () =>
    (
      await pool.query(
        `select current_user = session_user as authenticator, current_setting('graph.request_id', true) as request`,
      )
    ).rows;

  await verify(access_token);
  expect(await whoAmI()).toEqual([{ authenticator: true, request: '' }]);
  await expect(verifyBearer(pool, access_token, { id: '\0', ofServer: '' })).rejects.toThrow();
  expect(await whoAmI()).toEqual([{ authenticator: true, request: '' }]);
});

import { hashToken } from '../../src/token/accessTokens.ts';
import {
  asClient,
  createApplication,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  startOauthTest,
  token,
} from './support.ts';

let oauth: OwnOauthTest;
beforeAll(async () => {
  oauth = await startOauthTest();
});
afterAll(() => oauth.stop());

const grant_type = 'client_credentials';

test('an application gets the scopes that it asks for', async () => {
  const application = await createApplication(oauth, { scopes: ['basic', 'app'] });

  for (const [scope, granted] of [
    ['app', 'app'],
    ['basic', 'basic'],
    ['basic app', 'app basic'],
  ] as const) {
    const answer = await token(oauth, { form: { grant_type, scope, ...asClient(application) } });
    expectTokens(answer, granted);
  }
});

test('without a scope, or with an empty one, it gets all that it holds and the grant allows', async () => {
  const application = await createApplication(oauth, { scopes: ['me', 'basic', 'app'] });

  expectTokens(await token(oauth, { form: { grant_type, ...asClient(application) } }), 'app basic');
  expectTokens(await token(oauth, { form: { grant_type, scope: '', ...asClient(application) } }), 'app basic');
});

test('created_at is the time of issue in seconds', async () => {
  const application = await createApplication(oauth);

  const answer = await token(oauth, { form: { grant_type, ...asClient(application) } });

  expect(Math.abs(Number(answer.body.created_at) - Date.now() / 1000)).toBeLessThan(5);
});

test("refuses a scope that the application does not hold, that is a person's, or that is not one", async () => {
  const application = await createApplication(oauth, { scopes: ['app', 'me'] });

  for (const scope of [
    'basic',
    'app basic',
    'me',
    'app me',
    'admin',
    'APP',
    'app app',
    ' ',
    ' app',
    'app ',
    'app  basic',
    'app,basic',
    'app\tbasic',
  ]) {
    expectRefusal(await token(oauth, { form: { grant_type, scope, ...asClient(application) } }), 400, 'invalid_scope');
  }
  expectTokens(await token(oauth, { form: { grant_type, scope: 'app', ...asClient(application) } }), 'app');
});

test('an application without a scope of its own is not for this grant', async () => {
  const application = await createApplication(oauth, { scopes: ['me'] });

  expectRefusal(await token(oauth, { form: { grant_type, ...asClient(application) } }), 400, 'unauthorized_client');
  expectRefusal(
    await token(oauth, { form: { grant_type, scope: 'app', ...asClient(application) } }),
    400,
    'invalid_scope',
  );
});

test('a public client has nothing to be trusted by', async () => {
  const { clientId: client_id } = await createApplication(oauth, { confidential: false, scopes: ['me'] });

  expectRefusal(await token(oauth, { form: { grant_type, client_id } }), 400, 'unauthorized_client');
  expectRefusal(await token(oauth, { form: { grant_type, client_id, scope: 'app' } }), 400, 'unauthorized_client');
  // Parameters come before the application's type.
  expectRefusal(await token(oauth, { form: { grant_type, client_id, scope: 'me' } }), 400, 'invalid_scope');
});

test('the application of a mobile app must authenticate for itself', async () => {
  const application = await createApplication(oauth, { scopes: ['app', 'me'], mobileApp: 'password' });

  const anonymous = await token(oauth, { form: { grant_type, client_id: application.clientId } });
  const authenticated = await token(oauth, { form: { grant_type, ...asClient(application) } });

  expectRefusal(anonymous, 401, 'invalid_client');
  expectTokens(authenticated, 'app');
});

test('parameters of other grant types are ignored', async () => {
  const application = await createApplication(oauth, { mobileApp: 'external_authentication_token' });
  const others = { username: 'a', password: 'b', refresh_token: 'c', external_authentication_token: 'd' };

  expectTokens(await token(oauth, { form: { grant_type, ...others, ...asClient(application) } }), 'app');
});

test('reissuing keeps one grant for each set of scopes, and every token of it works', async () => {
  const application = await createApplication(oauth, { scopes: ['app', 'basic'] });

  // The first of them race to create the grants.
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      token(oauth, { form: { grant_type, scope: index % 2 ? 'app' : 'app basic', ...asClient(application) } }),
    ),
  );

  const tokens = answers.map((answer, index) => expectTokens(answer, index % 2 ? 'app' : 'app basic').access_token);
  expect(new Set(tokens).size).toBe(20);
  const { rows } = await oauth.database.owner.query(
    `select g.scopes, count(*)::int from oauth.grants g
     join oauth.access_tokens t on t.grant_id = g.id
     where g.application_id = $1 group by g.id, g.scopes order by g.scopes`,
    [application.id],
  );
  expect(rows).toEqual([
    { scopes: ['app'], count: 10 },
    { scopes: ['app', 'basic'], count: 10 },
  ]);
});

test('issuing clears away what has expired under the same grant, and nothing else', async () => {
  const { owner } = oauth.database;
  const application = await createApplication(oauth);
  const other = await createApplication(oauth);
  const issue = () => token(oauth, { form: { grant_type, ...asClient(application) } });
  await issue();
  await token(oauth, { form: { grant_type, ...asClient(other) } });
  await owner.query(`update oauth.access_tokens set expires_at = now() - interval '1 second'`);
  await owner.query(`update oauth.refresh_tokens set expires_at = now() - interval '1 second'`);

  expectTokens(await issue(), 'app');
  expectTokens(await issue(), 'app');

  for (const table of ['access_tokens', 'refresh_tokens']) {
    const { rows } = await owner.query(
      `select g.application_id = $1 as own, count(*)::int, count(*) filter (where t.expires_at > now())::int as live
       from oauth.${table} t join oauth.grants g on g.id = t.grant_id
       where g.application_id = any ($2) group by 1 order by 1`,
      [application.id, [application.id, other.id]],
    );
    expect(rows).toEqual([
      { own: false, count: 1, live: 0 },
      { own: true, count: 2, live: 2 },
    ]);
  }
});

/** The unused refresh tokens of an application, the newest first. */
const unusedTokens = async (applicationId: string): Promise<string[]> => {
  const { rows } = await oauth.database.owner.query(
    `select encode(t.token_hash, 'hex') as hash
     from oauth.refresh_tokens t join oauth.grants g on g.organization_id = t.organization_id and g.id = t.grant_id
     where g.application_id = $1 and t.used_at is null order by t.created_at desc`,
    [applicationId],
  );
  return rows.map(({ hash }) => hash);
};

test('keeps the ten newest refresh tokens of a grant that were not used, of each grant', async () => {
  const application = await createApplication(oauth, { scopes: ['app', 'basic'] });
  const refresh = (refresh_token: string) =>
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...asClient(application) } });
  const issue = async (scope: string) =>
    expectTokens(await token(oauth, { form: { grant_type, scope, ...asClient(application) } }), scope);
  const other = await issue('basic');
  const issued: string[] = [];
  for (let index = 0; index < 12; index += 1) issued.push((await issue('app')).refresh_token);

  const kept = [...issued.slice(2).reverse(), other.refresh_token];
  expect(await unusedTokens(application.id)).toEqual(kept.map((kept) => hashToken(kept).toString('hex')));
  expectRefusal(await refresh(issued[1] ?? ''), 400, 'invalid_grant');
  const renewed = expectTokens(await refresh(issued[2] ?? ''), 'app');
  await issue('app');
  // One that was used does not count; the oldest that was not has gone.
  expectRefusal(await refresh(issued[3] ?? ''), 400, 'invalid_grant');
  expectTokens(await refresh(issued[4] ?? ''), 'app');
  expectTokens(await refresh(renewed.refresh_token), 'app');
});

test('keeps ten of them however many are issued and renewed at once', async () => {
  const application = await createApplication(oauth);
  const issue = () => token(oauth, { form: { grant_type, ...asClient(application) } });
  const first = expectTokens(await issue(), 'app');
  const refresh_token = first.refresh_token;

  const answers = await Promise.all([
    ...Array.from({ length: 40 }, issue),
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...asClient(application) } }),
  ]);

  for (const answer of answers.slice(0, 40)) expectTokens(answer, 'app');
  expect(await unusedTokens(application.id)).toHaveLength(10);
});

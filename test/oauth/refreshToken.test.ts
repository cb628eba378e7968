import { hashToken } from '../../src/token/accessTokens.ts';
import {
  type Answer,
  asClient,
  createApplication,
  createOrganization,
  expectRefusal,
  expectTokens,
  issueOwn,
  type OwnOauthTest,
  signIn as signInAs,
  startOauthTest,
  type TestApplication,
  type Tokens,
  token,
} from './support.ts';

let oauth: OwnOauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await startOauthTest();
  application = await createApplication(oauth, { scopes: ['app', 'basic', 'me'] });
});
afterAll(() => oauth.stop());

const issue = (client = application, scope = 'app basic') => issueOwn(oauth, client, scope);

const signIn = async (client: Record<string, string> = asClient(application)) => {
  const { user, ...tokens } = await signInAs(oauth, client);
  return { ...tokens, userId: user.id };
};

const refresh = (refresh_token: string, more: Record<string, string> = {}): Promise<Answer> =>
  token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...asClient(application), ...more } });

/** Moves the times of a refresh token back, as if so much time had passed since. */
const age = (refreshToken: string, interval: string) =>
  oauth.database.owner.query(
    `update oauth.refresh_tokens set created_at = created_at - $2::interval, used_at = used_at - $2::interval,
       expires_at = expires_at - $2::interval, absolute_expires_at = absolute_expires_at - $2::interval
     where token_hash = $1`,
    [hashToken(refreshToken), interval],
  );

/** Which of the access tokens are still in the database, in the order given. */
const alive = async (...tokens: Tokens[]): Promise<boolean[]> => {
  const { rows } = await oauth.database.owner.query('select token_hash from oauth.access_tokens');
  const hashes = new Set(rows.map((row) => row.token_hash.toString('hex')));
  return tokens.map(({ access_token }) => hashes.has(hashToken(access_token).toString('hex')));
};

test('a refresh token buys new tokens, again and again', async () => {
  const first = await signIn();

  const second = expectTokens(await refresh(first.refresh_token), 'me');
  const third = expectTokens(await refresh(second.refresh_token), 'me');

  expect(new Set([first, second, third].flatMap((t) => [t.access_token, t.refresh_token])).size).toBe(6);
  expect(await alive(first, second, third)).toEqual([true, true, true]);
});

test('the scope may be less, and is all again at the next renewal', async () => {
  const { refresh_token } = await issue();

  const less = expectTokens(await refresh(refresh_token, { scope: 'basic' }), 'basic');

  expectTokens(await refresh(less.refresh_token), 'app basic');
});

test('more scope, or one that is not one, is refused and consumes nothing', async () => {
  const { refresh_token } = await issue(application, 'basic');

  for (const scope of ['app', 'app basic', 'me', 'basic me', 'admin', 'basic basic', ' ']) {
    expectRefusal(await refresh(refresh_token, { scope }), 400, 'invalid_scope');
  }
  expectTokens(await refresh(refresh_token, { scope: 'basic' }), 'basic');
});

test('a scope that the application has lost since is not given again', async () => {
  const { owner } = oauth.database;
  const shrinking = await createApplication(oauth, { scopes: ['app', 'basic'] });
  const { refresh_token } = await issue(shrinking);
  const setScopes = (scopes: string[]) =>
    owner.query('update oauth.applications set scopes = $2 where id = $1', [shrinking.id, scopes]);

  await setScopes(['me']);
  expectRefusal(await refresh(refresh_token, asClient(shrinking)), 400, 'unauthorized_client');
  await setScopes(['basic']);
  expectRefusal(await refresh(refresh_token, { ...asClient(shrinking), scope: 'app' }), 400, 'invalid_scope');
  expectTokens(await refresh(refresh_token, asClient(shrinking)), 'basic');
});

test('a replay within 60 s gets the same reply, byte for byte, however often', async () => {
  const { refresh_token } = await signIn();
  const first = await refresh(refresh_token);
  await age(refresh_token, '55 seconds');

  const replays = [await refresh(refresh_token), await refresh(refresh_token)];

  const { access_token } = expectTokens(first, 'me');
  expect(replays.map(({ text }) => text)).toEqual([first.text, first.text]);
  expect(access_token).toBeDefined();
});

test('a replay that asks for another scope is refused, and the same request still gets the same reply', async () => {
  const { refresh_token } = await issue();
  const first = await refresh(refresh_token, { scope: 'basic app' });

  expectRefusal(await refresh(refresh_token, { scope: 'basic' }), 400, 'invalid_scope');

  expect((await refresh(refresh_token, { scope: 'app basic' })).text).toBe(first.text);
  expect((await refresh(refresh_token)).text).toBe(first.text);
  expectTokens(first, 'app basic');
});

test('20 renewals at the same instant get one successor', async () => {
  const { refresh_token, userId } = await signIn();

  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));

  expectTokens(answers[0] as Answer, 'me');
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  const { rows } = await oauth.database.owner.query(
    `select count(*)::int, count(t.used_at)::int as used
     from oauth.refresh_tokens t join oauth.grants g on g.id = t.grant_id where g.user_id = $1`,
    [userId],
  );
  expect(rows).toEqual([{ count: 2, used: 1 }]);
});

test('a replay after 60 s ends the grant, and only that grant', async () => {
  const first = await signIn();
  const other = await signIn();
  const second = expectTokens(await refresh(first.refresh_token), 'me');
  await age(first.refresh_token, '61 seconds');

  const replay = await refresh(first.refresh_token);

  expectRefusal(replay, 400, 'invalid_grant');
  expect(await alive(first, second, other)).toEqual([false, false, true]);
  expectRefusal(await refresh(second.refresh_token), 400, 'invalid_grant');
  expectTokens(await refresh(other.refresh_token), 'me');
});

test('a replay after the successor was used ends the grant, and only that grant', async () => {
  const first = await signIn();
  const other = await signIn();
  const second = expectTokens(await refresh(first.refresh_token), 'me');
  const third = expectTokens(await refresh(second.refresh_token), 'me');

  const replay = await refresh(first.refresh_token);

  expectRefusal(replay, 400, 'invalid_grant');
  expect(await alive(first, second, third, other)).toEqual([false, false, false, true]);
  expectTokens(await refresh(other.refresh_token), 'me');
});

test("20 replays at the same instant end the grant without standing in each other's way", async () => {
  const { refresh_token, userId } = await signIn();
  await refresh(refresh_token);
  await age(refresh_token, '61 seconds');

  const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));

  for (const answer of answers) expectRefusal(answer, 400, 'invalid_grant');
  const { rowCount } = await oauth.database.owner.query('select from oauth.grants where user_id = $1', [userId]);
  expect(rowCount).toBe(0);
});

test('the reply that is kept opens with the old token only', async () => {
  const { refresh_token, userId } = await signIn();
  const { access_token } = expectTokens(await refresh(refresh_token), 'me');

  const { rows } = await oauth.database.owner.query(
    `select t.reply_ciphertext from oauth.refresh_tokens t join oauth.grants g on g.id = t.grant_id
     where g.user_id = $1 and t.reply_ciphertext is not null`,
    [userId],
  );

  expect(rows).toHaveLength(1);
  expect(rows[0].reply_ciphertext.toString('latin1')).not.toContain(access_token);
});

test("another client's refresh token is refused, and nothing happens to it", async () => {
  const { refresh_token } = await signIn();
  const neighbour = await createApplication(oauth, { scopes: ['app', 'basic', 'me'] });
  const foreign = await createApplication(oauth, {
    scopes: ['app', 'basic', 'me'],
    organizationId: await createOrganization(oauth.database),
  });

  for (const client of [neighbour, foreign]) {
    expectRefusal(await refresh(refresh_token, asClient(client)), 400, 'invalid_grant');
  }
  const successor = expectTokens(await refresh(refresh_token), 'me');
  await age(refresh_token, '61 seconds');
  for (const client of [neighbour, foreign]) {
    expectRefusal(await refresh(refresh_token, asClient(client)), 400, 'invalid_grant');
  }
  expectTokens(await refresh(successor.refresh_token), 'me');
});

test('what is no refresh token is refused', async () => {
  const { access_token, refresh_token } = await signIn();

  for (const text of [
    access_token,
    `${refresh_token}x`,
    refresh_token.slice(0, -1),
    refresh_token.toLowerCase(),
    'x',
  ]) {
    expectRefusal(await refresh(text), 400, 'invalid_grant');
  }
  expectTokens(await refresh(refresh_token), 'me');
});

test('a grant that was made with a secret needs it again; one without may come with it', async () => {
  const mobile = await createApplication(oauth, { scopes: ['app', 'me'], mobileApp: 'password' });
  const named = { client_id: mobile.clientId };
  const withSecret = await signIn(asClient(mobile));
  const without = await signIn(named);
  const own = await issue(mobile, 'app');
  const renew = (refresh_token: string, client: Record<string, string>) =>
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...client } });

  expectRefusal(await renew(withSecret.refresh_token, named), 401, 'invalid_client');
  expectRefusal(await renew(own.refresh_token, named), 401, 'invalid_client');
  expectTokens(await renew(withSecret.refresh_token, asClient(mobile)), 'me');
  expectTokens(await renew(own.refresh_token, asClient(mobile)), 'app');
  const successor = expectTokens(await renew(without.refresh_token, named), 'me');
  expectTokens(await renew(successor.refresh_token, asClient(mobile)), 'me');
});

test('an idle refresh token ends after 30 days, a used one begins 30 new days', async () => {
  const [early, late] = [await signIn(), await signIn()];
  await age(early.refresh_token, '29 days 23 hours');
  await age(late.refresh_token, '30 days 1 second');

  const successor = expectTokens(await refresh(early.refresh_token), 'me');
  expectRefusal(await refresh(late.refresh_token), 400, 'invalid_grant');
  await age(successor.refresh_token, '29 days 23 hours');
  expectTokens(await refresh(successor.refresh_token), 'me');
});

test('after 90 days a grant cannot be renewed, however busy it was', async () => {
  const { owner } = oauth.database;
  let { refresh_token } = await signIn();
  for (let days = 0; days < 80; days += 20) {
    await age(refresh_token, '20 days');
    ({ refresh_token } = expectTokens(await refresh(refresh_token), 'me'));
  }

  const { rows } = await owner.query(
    `select round(extract(epoch from expires_at - now()) / 86400)::int as days from oauth.refresh_tokens where token_hash = $1`,
    [hashToken(refresh_token)],
  );
  expect(rows).toEqual([{ days: 10 }]);
  await age(refresh_token, '10 days 1 minute');
  expectRefusal(await refresh(refresh_token), 400, 'invalid_grant');
});

test('a disabled or deleted person cannot renew', async () => {
  const { owner } = oauth.database;
  const [disabled, deleted, other] = [await signIn(), await signIn(), await signIn()];
  await owner.query('update oauth.credentials set disabled_at = now() where user_id = $1', [disabled.userId]);
  await owner.query('delete from app_public.users where id = $1', [deleted.userId]);

  expectRefusal(await refresh(disabled.refresh_token), 400, 'invalid_grant');
  expectRefusal(await refresh(deleted.refresh_token), 400, 'invalid_grant');
  expectTokens(await refresh(other.refresh_token), 'me');
});

test('renewing clears away what has expired under the same grant', async () => {
  const { owner } = oauth.database;
  const { refresh_token, userId } = await signIn();
  await owner.query(
    `update oauth.access_tokens t set expires_at = now() - interval '1 second'
     from oauth.grants g where g.id = t.grant_id and g.user_id = $1`,
    [userId],
  );

  expectTokens(await refresh(refresh_token), 'me');

  const { rows } = await owner.query(
    `select count(*)::int from oauth.access_tokens t join oauth.grants g on g.id = t.grant_id where g.user_id = $1`,
    [userId],
  );
  expect(rows).toEqual([{ count: 1 }]);
});

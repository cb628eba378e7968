import { hashToken } from '../../src/token/accessTokens.ts';
import { withSlowTurns } from '../support/slowTurns.ts';
import { createPkce, exchangeForm, obtainCode, redirectUri } from './authorizeSupport.ts';
import {
  type Answer,
  asClient,
  bearer,
  createApplication,
  createOrganization,
  createUser,
  expectAnswer,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  send,
  startOauthTest,
  type TestApplication,
  type TestUser,
  type Tokens,
  token,
  untilWaiting,
} from './support.ts';

let oauth: OwnOauthTest;
let application: TestApplication;
let user: TestUser;
beforeAll(async () => {
  // As many connections as requests that wait for each other in a test.
  oauth = await startOauthTest({ DATABASE_POOL_SIZE: '30' });
  application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});
afterAll(() => oauth.stop());

/** A code, and what exchanges it. */
async function obtain(client = application) {
  const pkce = createPkce();
  const code = await obtainCode(oauth, client, user, pkce);
  return { code, pkce, form: { ...exchangeForm(code, pkce), ...asClient(client) } };
}

const isAlive = async ({ access_token }: Tokens): Promise<boolean> =>
  (await send(oauth, '/oauth/token/info', { method: 'GET', headers: bearer(access_token) })).status === 200;

test('a code buys tokens of the person who allowed it, which can be renewed', async () => {
  const { form } = await obtain();

  const tokens = expectTokens(await token(oauth, { form }), 'me');

  expect(await isAlive(tokens)).toBe(true);
  const { rows } = await oauth.database.owner.query(
    `select g.user_id, g.grant_type, g.client_authentication, t.scopes
     from oauth.grants g join oauth.access_tokens t on t.grant_id = g.id where t.token_hash = $1`,
    [hashToken(tokens.access_token)],
  );
  expect(rows).toEqual([
    { user_id: user.id, grant_type: 'authorization_code', client_authentication: 'secret', scopes: ['me'] },
  ]);
  const renewal = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, ...asClient(application) };
  expectTokens(await token(oauth, { form: renewal }), 'me');
});

test('a public client exchanges without a secret, and any secret from it is refused', async () => {
  const native = await createApplication(oauth, { scopes: ['me'], confidential: false, redirectUris: [redirectUri] });
  const { code, pkce } = await obtain(native);
  const form = { ...exchangeForm(code, pkce), client_id: native.clientId };

  expectRefusal(await token(oauth, { form: { ...form, client_secret: 'x' } }), 401, 'invalid_client');
  expectTokens(await token(oauth, { form }), 'me');
});

test('a confidential client must authenticate, and its failure consumes nothing', async () => {
  const { code, pkce, form } = await obtain();
  const named = { ...exchangeForm(code, pkce), client_id: application.clientId };

  expectRefusal(await token(oauth, { form: named }), 401, 'invalid_client');
  expectRefusal(await token(oauth, { form: { ...named, client_secret: 'wrong' } }), 401, 'invalid_client');
  expectTokens(await token(oauth, { form }), 'me');
});

test('each parameter is needed', async () => {
  const { form } = await obtain();

  for (const name of ['code', 'redirect_uri', 'code_verifier'] as const) {
    const { [name]: _, ...rest } = form;
    expectRefusal(await token(oauth, { form: rest }), 400, 'invalid_request');
    expectRefusal(await token(oauth, { form: { ...form, [name]: '' } }), 400, 'invalid_request');
    const repeated: [string, string][] = [...Object.entries(form), [name, form[name]]];
    expectRefusal(await token(oauth, { form: repeated }), 400, 'invalid_request');
    expectRefusal(await token(oauth, { form: { ...form, [`${name}[]`]: 'x' } }), 400, 'invalid_request');
  }
  expectTokens(await token(oauth, { form }), 'me');
});

test('a wrong redirect, verifier, client or code is refused and consumes nothing', async () => {
  const neighbour = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  const foreign = await createApplication(oauth, {
    scopes: ['me'],
    redirectUris: [redirectUri],
    organizationId: await createOrganization(oauth.database),
  });
  const { code, form } = await obtain();

  for (const wrong of [
    { redirect_uri: `${redirectUri}/` },
    { redirect_uri: 'x'.repeat(5000) },
    { code_verifier: createPkce().verifier },
    { code_verifier: createPkce().challenge },
    { code_verifier: 'x'.repeat(5000) },
    { code: code.slice(0, -1) },
    { code: `${code}x` },
    { code: 'x'.repeat(5000) },
    asClient(neighbour),
    asClient(foreign),
  ]) {
    expectRefusal(await token(oauth, { form: { ...form, ...wrong } }), 400, 'invalid_grant');
  }
  const tokens = expectTokens(await token(oauth, { form }), 'me');
  // Nor do they end what the code has bought since.
  for (const wrong of [
    { redirect_uri: `${redirectUri}/` },
    { code_verifier: createPkce().verifier },
    asClient(neighbour),
  ]) {
    expectRefusal(await token(oauth, { form: { ...form, ...wrong } }), 400, 'invalid_grant');
  }
  expect(await isAlive(tokens)).toBe(true);
});

test('the port that a native app chose must be the same again', async () => {
  const registered = 'http://127.0.0.1/callback';
  const native = await createApplication(oauth, { scopes: ['me'], confidential: false, redirectUris: [registered] });
  const pkce = createPkce();
  const chosen = 'http://127.0.0.1:49152/callback';
  const code = await obtainCode(oauth, native, user, pkce, { redirect_uri: chosen });
  const form = { ...exchangeForm(code, pkce), client_id: native.clientId };

  for (const redirect_uri of [registered, 'http://127.0.0.1:49153/callback']) {
    expectRefusal(await token(oauth, { form: { ...form, redirect_uri } }), 400, 'invalid_grant');
  }
  expectTokens(await token(oauth, { form: { ...form, redirect_uri: chosen } }), 'me');
});

test('a code is good for 60 s', async () => {
  const [early, late] = [await obtain(), await obtain()];
  const age = (code: string, seconds: number) =>
    oauth.database.owner.query(
      `update oauth.authorization_codes set expires_at = expires_at - make_interval(secs => $2) where code_hash = $1`,
      [hashToken(code), seconds],
    );
  await age(early.code, 50);
  await age(late.code, 60);

  expectTokens(await token(oauth, { form: early.form }), 'me');
  expectRefusal(await token(oauth, { form: late.form }), 400, 'invalid_grant');
});

test('a replay is refused and ends what the code has bought, the renewed tokens included, and nothing else', async () => {
  const { form } = await obtain();
  const other = await obtain();
  const first = expectTokens(await token(oauth, { form }), 'me');
  const untouched = expectTokens(await token(oauth, { form: other.form }), 'me');
  const renewal = { grant_type: 'refresh_token', refresh_token: first.refresh_token, ...asClient(application) };
  const second = expectTokens(await token(oauth, { form: renewal }), 'me');

  expectRefusal(await token(oauth, { form }), 400, 'invalid_grant');

  expect([await isAlive(first), await isAlive(second), await isAlive(untouched)]).toEqual([false, false, true]);
  expectRefusal(
    await token(oauth, { form: { ...renewal, refresh_token: second.refresh_token } }),
    400,
    'invalid_grant',
  );
  expectRefusal(await token(oauth, { form }), 400, 'invalid_grant');
});

test('a replay ends it also after the code has expired', async () => {
  const { code, form } = await obtain();
  const tokens = expectTokens(await token(oauth, { form }), 'me');
  await oauth.database.owner.query(
    `update oauth.authorization_codes set expires_at = expires_at - interval '1 hour', used_at = used_at - interval '1 hour'
     where code_hash = $1`,
    [hashToken(code)],
  );

  expectRefusal(await token(oauth, { form }), 400, 'invalid_grant');

  expect(await isAlive(tokens)).toBe(false);
});

test('of 20 exchanges at once one wins, and those that were on their way with it end nothing', async () => {
  const { code, form } = await obtain();
  const others = await oauth.database.owner.connect();
  await others.query('begin');
  await others.query('select from oauth.authorization_codes where code_hash = $1 for update', [hashToken(code)]);

  const answers = Promise.all(Array.from({ length: 20 }, () => token(oauth, { form })));
  await untilWaiting(oauth, 20);
  await others.query('commit');
  others.release();

  const [winners, losers] = split(await answers);
  expect([winners.length, losers.length]).toEqual([1, 19]);
  for (const loser of losers) expectRefusal(loser, 400, 'invalid_grant');
  const tokens = expectTokens(winners[0] as Answer, 'me');
  expect(await isAlive(tokens)).toBe(true);
  // Each later exchange is a replay.
  expectRefusal(await token(oauth, { form }), 400, 'invalid_grant');
  expect(await isAlive(tokens)).toBe(false);
});

test('of 20 exchanges without a lock one wins, too, again and again', async () => {
  for (let round = 0; round < 5; round++) {
    const { form } = await obtain();

    const [winners, losers] = split(await Promise.all(Array.from({ length: 20 }, () => token(oauth, { form }))));

    expect([winners.length, losers.length]).toEqual([1, 19]);
    for (const loser of losers) expectRefusal(loser, 400, 'invalid_grant');
  }
});

test.each([
  ['however long the others have waited before they were looked at', '1', 0],
  ['on new connections while each turn of the event loop is long', '30', 5],
])('of 20 exchanges at once the winner lives, %s, and a replay ends its tokens', async (_what, poolSize, turnMs) => {
  const own = await startOauthTest({ DATABASE_POOL_SIZE: poolSize });
  const client = await createApplication(own, { scopes: ['me'], redirectUris: [redirectUri] });
  const person = await createUser(own);
  const pkce = createPkce();
  const form = { ...exchangeForm(await obtainCode(own, client, person, pkce), pkce), ...asClient(client) };
  // By its address: a name is looked up for each connection, in its own time.
  const service = { url: own.url.replace('localhost', '127.0.0.1') };
  const exchange = () => token(service, { form });
  const lives = async (winner: Answer) => {
    const headers = bearer(expectTokens(winner, 'me').access_token);
    return (await send(own, '/oauth/token/info', { method: 'GET', headers })).status === 200;
  };

  const [winners, losers, before, replay, after] = await withSlowTurns(turnMs, async () => {
    const [winners, losers] = split(await Promise.all(Array.from({ length: 20 }, exchange)));
    const before = await Promise.all(winners.map(lives));
    return [winners, losers, before, await exchange(), await Promise.all(winners.map(lives))];
  });
  await own.stop();

  expect([winners.length, losers.length]).toEqual([1, 19]);
  for (const loser of [...losers, replay]) expectRefusal(loser, 400, 'invalid_grant');
  expect([before, after]).toEqual([[true], [false]]);
});

const split = (answers: Answer[]) =>
  [answers.filter(({ status }) => status === 200), answers.filter(({ status }) => status !== 200)] as const;

test('no person who was disabled or deleted since gets tokens, nor does an application that lost its scope', async () => {
  const { owner } = oauth.database;
  const someone = async () => {
    const person = await createUser(oauth);
    const pkce = createPkce();
    const code = await obtainCode(oauth, application, person, pkce);
    return { person, form: { ...exchangeForm(code, pkce), ...asClient(application) } };
  };
  const [disabled, deleted] = [await someone(), await someone()];
  const shrinking = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  const shrunk = await obtain(shrinking);
  await owner.query('update oauth.credentials set disabled_at = now() where user_id = $1', [disabled.person.id]);
  await owner.query('delete from app_public.users where id = $1', [deleted.person.id]);
  await owner.query(`update oauth.applications set scopes = '{app}' where id = $1`, [shrinking.id]);

  expectRefusal(await token(oauth, { form: disabled.form }), 400, 'invalid_grant');
  expectRefusal(await token(oauth, { form: deleted.form }), 400, 'invalid_grant');
  expectRefusal(await token(oauth, { form: shrunk.form }), 400, 'unauthorized_client');
});

test('a code is no token', async () => {
  const { code, form } = await obtain();

  const info = await send(oauth, '/oauth/token/info', { method: 'GET', headers: bearer(code) });
  expectRefusal(info, 401, 'invalid_token');
  const introspected = await send(oauth, '/oauth/introspect', { form: { token: code, ...asClient(application) } });
  expectAnswer(introspected, { active: false });
  expectAnswer(await send(oauth, '/oauth/revoke', { form: { token: code, ...asClient(application) } }), {});
  expectTokens(await token(oauth, { form }), 'me');
});

import { hashToken } from '../../src/token/accessTokens.ts';
import { createPkce, exchangeForm, obtainCode, redirectUri } from './authorizeSupport.ts';
import { expectReason as expectReasonInLog, type Refusal } from './reasonInLog.ts';
import {
  type Answer,
  asClient,
  createApplication,
  createUser,
  expectTokens,
  type OauthTest,
  shareOauthTest,
  signIn,
  type TestApplication,
  type TestUser,
  token,
} from './support.ts';

let oauth: OauthTest;
let people: TestApplication;
let other: TestApplication;
let user: TestUser;
beforeAll(async () => {
  oauth = await shareOauthTest();
  people = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  other = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  user = await createUser(oauth);
});

const expectReason = (answer: Answer, refusal: Refusal) => expectReasonInLog(oauth, answer, refusal);

const set = (statement: string, ...values: unknown[]) => oauth.database.owner.query(statement, values);
const disable = ({ id }: { id: string }) =>
  set('update oauth.credentials set disabled_at = now() where user_id = $1', id);

test('every wrong password says the same, and the log why', async () => {
  const without = await createUser(oauth, { password: null });
  const disabled = await createUser(oauth, { disabled: true });
  const attempt = (username: string, password: string) =>
    token(oauth, { form: { grant_type: 'password', username, password, ...asClient(people) } });
  for (const [username, password, reason] of [
    ['nobody@example.test', user.password, 'no user has this e-mail address'],
    [user.email, 'wrong password', 'the password is wrong'],
    [without.email, user.password, 'the user has no password'],
    [disabled.email, disabled.password, 'the user is disabled'],
  ] as const) {
    const description = 'User name or password is wrong.';
    await expectReason(await attempt(username, password), { status: 400, error: 'invalid_grant', description, reason });
  }
  expectTokens(await attempt(user.email, user.password), 'me');
});

test('every wrong external authentication token says the same, and the log why', async () => {
  const mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'external_authentication_token' });
  const disabled = await createUser(oauth, { disabled: true });
  const attempt = (external_authentication_token: string) =>
    token(oauth, { form: { grant_type: 'password', external_authentication_token, client_id: mobile.clientId } });
  const description = 'external_authentication_token is wrong.';
  for (const [value, reason] of [
    ['x'.repeat(20), 'no user has this external_authentication_token'],
    [disabled.externalAuthenticationToken, 'the user is disabled'],
  ] as const)
    await expectReason(await attempt(value), { status: 400, error: 'invalid_grant', description, reason });
  expectTokens(await attempt(user.externalAuthenticationToken), 'me');
});

test('every refresh token that is no good says the same, and the log why', async () => {
  const refresh = (refresh_token: string, client: Record<string, string> = asClient(people)) =>
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...client } });
  const refused = (reason: string) => ({
    status: 400,
    error: 'invalid_grant',
    description: 'The refresh token is unknown, expired or revoked.',
    reason,
  });
  const [good, expired, ofDisabled, used] = [
    await signIn(oauth, asClient(people)),
    await signIn(oauth, asClient(people)),
    await signIn(oauth, asClient(people)),
    await signIn(oauth, asClient(people)),
  ];
  await set(
    'update oauth.refresh_tokens set created_at = now() - interval $$2 days$$, expires_at = now() - interval $$1 day$$ where token_hash = $1',
    hashToken(expired.refresh_token),
  );
  await disable(ofDisabled.user);

  await expectReason(await refresh('gqs_rt_x'), refused('the refresh token is unknown, or its grant was ended'));
  await expectReason(
    await refresh(good.refresh_token, asClient(other)),
    refused('the refresh token is another client’s'),
  );
  await expectReason(await refresh(expired.refresh_token), refused('the refresh token has expired'));
  await expectReason(await refresh(ofDisabled.refresh_token), refused('the user is disabled'));

  const next = expectTokens(await refresh(used.refresh_token), 'me');
  expectTokens(await refresh(next.refresh_token), 'me');
  const description = 'The refresh token was used before, so its grant has been ended; sign in again.';
  await expectReason(await refresh(used.refresh_token), { ...refused(description), description });
  expectTokens(await refresh(good.refresh_token), 'me');
});

test('a token that was given to a client with its secret is refused to it without, and the log says so', async () => {
  const mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'password' });
  const { refresh_token } = await signIn(oauth, asClient(mobile));
  const refresh = (client: Record<string, string>) =>
    token(oauth, { form: { grant_type: 'refresh_token', refresh_token, ...client } });

  await expectReason(await refresh({ client_id: mobile.clientId }), {
    status: 401,
    error: 'invalid_client',
    description:
      'The client is unknown, or did not authenticate as it must: send client_id, and the secret if it has one.',
    reason: 'the grant was given to the client with its secret, which is missing',
  });
  expectTokens(await refresh(asClient(mobile)), 'me');
});

test('every code that is no good says the same, and the log why', async () => {
  const disabled = await createUser(oauth);
  const obtain = async (person = user) => {
    const pkce = createPkce();
    const code = await obtainCode(oauth, people, person, pkce);
    return { code, form: { ...exchangeForm(code, pkce), ...asClient(people) } };
  };
  const refused = (reason: string) => ({
    status: 400,
    error: 'invalid_grant',
    description:
      'The authorization code is unknown or expired, or redirect_uri or code_verifier are not those it needs.',
    reason,
  });
  const [good, expired, ofDisabled] = [await obtain(), await obtain(), await obtain(disabled)];
  await set(
    'update oauth.authorization_codes set expires_at = now() - interval $$1 second$$ where code_hash = $1',
    hashToken(expired.code),
  );
  await disable(disabled);
  const exchange = (form: Record<string, string>) => token(oauth, { form });

  for (const [form, reason] of [
    [{ ...good.form, code: 'gqs_ac_x' }, 'the code is unknown'],
    [{ ...good.form, ...asClient(other) }, 'the code is another client’s'],
    [{ ...good.form, redirect_uri: `${redirectUri}x` }, 'redirect_uri is not the one of the request'],
    [{ ...good.form, code_verifier: 'x'.repeat(43) }, 'code_verifier does not match'],
    [expired.form, 'the code has expired'],
    [ofDisabled.form, 'the user is disabled'],
  ] as const)
    await expectReason(await exchange(form), refused(reason));

  expectTokens(await exchange(good.form), 'me');
  const description = 'The authorization code was used before.';
  await expectReason(await exchange(good.form), { ...refused(description), description });
});

import { hashToken } from '../../src/token/accessTokens.ts';
import { answerOf, createPkce, exchange, redirectUri, requestOf, Visitor } from './authorizeSupport.ts';
import {
  asClient,
  createApplication,
  createUser,
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

test('no table holds a token, a secret or a password in clear', async () => {
  const user = await createUser(oauth);
  const mobile = await createApplication(oauth, {
    scopes: ['app', 'me'],
    mobileApp: 'external_authentication_token',
  });
  const plain = await createApplication(oauth, { scopes: ['me'] });
  const external = { external_authentication_token: user.externalAuthenticationToken, grant_type: 'password' };
  const byPassword = { grant_type: 'password', username: user.email, password: user.password };
  const issued = [
    await token(oauth, { form: { grant_type: 'client_credentials', ...asClient(mobile) } }),
    await token(oauth, { form: { ...external, ...asClient(mobile) } }),
    await token(oauth, { form: { ...byPassword, ...asClient(plain) } }),
  ].map((answer) => expectTokens(answer, String(answer.body.scope)));
  const renewed = await token(oauth, {
    form: { grant_type: 'refresh_token', refresh_token: issued[2]?.refresh_token ?? '', ...asClient(plain) },
  });
  const tokens = [...issued, expectTokens(renewed, 'me')];

  const dump = await dumpEverything(oauth);

  expect(dump).toContain(user.email);
  expect(dump).toContain(mobile.clientId);
  const secrets = [
    ...tokens.flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]),
    ...[user.password, user.externalAuthenticationToken, mobile.secret, plain.secret],
  ];
  for (const secret of secrets) {
    // As text, and as the bytes of a bytea.
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(Buffer.from(secret).toString('hex'));
    expect(dump).not.toContain(Buffer.from(secret.slice(7)).toString('hex'));
  }
});

test('no table holds a session, a code or what a form carries in clear', async () => {
  const user = await createUser(oauth);
  const application = await createApplication(oauth, { scopes: ['me'], redirectUris: [redirectUri] });
  const visitor = new Visitor(oauth);
  const pkce = createPkce();
  const { approval } = await visitor.signIn(requestOf(application, pkce), user);
  const { code: used = '' } = answerOf(await visitor.submit(approval));
  await exchange(oauth, used, pkce, asClient(application));
  const path = `/oauth/authorize?${new URLSearchParams(requestOf(application))}`;
  const { code: unused = '' } = answerOf(await visitor.submit((await visitor.consent(path)).approval));
  const { approval: open } = await visitor.consent(path);

  const dump = await dumpEverything(oauth);

  for (const known of [used, unused, open.fields.csrf_token ?? '']) {
    expect(dump).toContain(hashToken(known).toString('hex'));
  }
  const [, session = ''] = /^s%3A[\da-f-]+\.([\w-]{43})\./.exec(visitor.cookies.get('gqs_session') ?? '') ?? [];
  const secrets = [used, unused, open.fields.csrf_token, approval.fields.csrf_token, session, pkce.verifier];
  for (const secret of [...secrets, visitor.cookies.get('gqs_browser')]) {
    expect(secret?.length).toBeGreaterThan(40);
    expect(dump).not.toContain(secret);
    expect(dump).not.toContain(Buffer.from(secret ?? '').toString('hex'));
  }
});

/** Every row of every table, as text. */
async function dumpEverything({ database: { owner } }: OwnOauthTest): Promise<string> {
  const tables = await owner.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('oauth', 'app_public', 'app_hidden', 'audit')`,
  );
  const dumps = await Promise.all(tables.rows.map(({ name }) => owner.query(`select t::text as row from ${name} t`)));
  return dumps.flatMap(({ rows }) => rows.map(({ row }) => row)).join('\n');
}

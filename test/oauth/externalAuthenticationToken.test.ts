import {
  asClient,
  createApplication,
  createOrganization,
  createUser,
  expectRefusal,
  expectTokens,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  token,
} from './support.ts';

let oauth: OauthTest;
let mobile: TestApplication;
beforeAll(async () => {
  oauth = await shareOauthTest();
  mobile = await createApplication(oauth, { scopes: ['me'], mobileApp: 'external_authentication_token' });
});

const parameters = (external_authentication_token: string, application = mobile) => ({
  grant_type: 'password',
  client_id: application.clientId,
  scope: 'me',
  external_authentication_token,
});
const encode = (form: Record<string, string>) => new URLSearchParams(form).toString();

test('a person signs in by the query of an empty POST, and the reply lists what was submitted', async () => {
  const user = await createUser(oauth);
  const submitted = parameters(user.externalAuthenticationToken);

  const answer = await token(oauth, { query: encode(submitted) });

  expectTokens(answer, 'me');
  expect(answer.body).toMatchObject(submitted);
  const { rows } = await oauth.database.owner.query('select count(*)::int from oauth.grants where user_id = $1', [
    user.id,
  ]);
  expect(rows).toEqual([{ count: 1 }]);
});

test('the content type of an empty body does not matter', async () => {
  const user = await createUser(oauth);

  for (const type of ['application/json', 'application/x-www-form-urlencoded', 'text/plain']) {
    const answer = await token(oauth, {
      query: encode(parameters(user.externalAuthenticationToken)),
      raw: { body: '', type },
    });
    expectTokens(answer, 'me');
  }
});

test('the body works as well, with the secret or without', async () => {
  const { externalAuthenticationToken } = await createUser(oauth);

  expectTokens(await token(oauth, { form: parameters(externalAuthenticationToken) }), 'me');
  expectTokens(await token(oauth, { form: { ...parameters(externalAuthenticationToken), ...asClient(mobile) } }), 'me');
  const { scope, ...unscoped } = parameters(externalAuthenticationToken);
  expectTokens(await token(oauth, { form: unscoped }), scope);
});

test('beside a body, or beside another credential, the query is refused', async () => {
  const { externalAuthenticationToken } = await createUser(oauth);
  const query = encode(parameters(externalAuthenticationToken));

  expectRefusal(await token(oauth, { query, form: { grant_type: 'password' } }), 400, 'invalid_request');
  expectRefusal(await token(oauth, { query, form: parameters(externalAuthenticationToken) }), 400, 'invalid_request');
  for (const more of [
    `client_secret=${mobile.secret}`,
    'password=x',
    'username=x',
    'refresh_token=x',
    'client_secret[]=x',
  ]) {
    expectRefusal(await token(oauth, { query: `${query}&${more}` }), 400, 'invalid_request');
  }
  expectRefusal(await token(oauth, { query: `${query}&scope=me` }), 400, 'invalid_request');
  expectRefusal(await token(oauth, { query: `${query}&external_authentication_token[]=x` }), 400, 'invalid_request');
  expectRefusal(await token(oauth, { query: query.replace('password', 'client_credentials') }), 400, 'invalid_request');
});

test('Basic beside the query authenticates the client', async () => {
  const { externalAuthenticationToken } = await createUser(oauth);
  const { client_id, ...rest } = parameters(externalAuthenticationToken);

  expectTokens(await token(oauth, { query: encode(rest), basic: { id: client_id, secret: mobile.secret } }), 'me');
  expectRefusal(
    await token(oauth, { query: encode(rest), basic: { id: client_id, secret: 'x' } }),
    401,
    'invalid_client',
  );
});

test('wrong, disabled and foreign tokens get the identical refusal', async () => {
  const right = await createUser(oauth);
  const disabled = await createUser(oauth, { disabled: true });
  const foreign = await createUser(oauth, { organizationId: await createOrganization(oauth.database) });

  const answers = await Promise.all(
    [
      'wrong',
      `${right.externalAuthenticationToken}x`,
      disabled.externalAuthenticationToken,
      foreign.externalAuthenticationToken,
    ].map((externalToken) => token(oauth, { query: encode(parameters(externalToken)) })),
  );

  for (const answer of answers) {
    expectRefusal(answer, 400, 'invalid_grant');
    expect(answer.text).toBe(answers[0]?.text);
  }
  expectTokens(await token(oauth, { query: encode(parameters(right.externalAuthenticationToken)) }), 'me');
});

test('applications without such a mobile app are refused', async () => {
  const { externalAuthenticationToken } = await createUser(oauth);
  const byPassword = await createApplication(oauth, { scopes: ['me'], mobileApp: 'password' });
  const without = await createApplication(oauth, { scopes: ['me'], confidential: false });

  for (const application of [byPassword, without]) {
    const form = parameters(externalAuthenticationToken, application);
    expectRefusal(await token(oauth, { form }), 400, 'unauthorized_client');
    expectRefusal(await token(oauth, { query: encode(form) }), 400, 'unauthorized_client');
    // Parameters come before the application's type.
    expectRefusal(await token(oauth, { form: { ...form, scope: 'app' } }), 400, 'invalid_scope');
  }
});

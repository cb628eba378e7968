import { expectRefusal, type OauthTest, send, shareOauthTest } from './support.ts';

let oauth: OauthTest;
beforeAll(async () => {
  oauth = await shareOauthTest();
});

const path = '/.well-known/oauth-authorization-server';

test('every endpoint named is there, under the base URL', async () => {
  const { status, body } = await send(oauth, path, { method: 'GET' });

  expect(status).toBe(200);
  expect(body.issuer).toBe(oauth.url);
  const endpoints = Object.entries(body).filter(([name]) => name.endsWith('_endpoint'));
  expect(endpoints.map(([name]) => name)).toEqual([
    'authorization_endpoint',
    'token_endpoint',
    'revocation_endpoint',
    'introspection_endpoint',
  ]);
  for (const [, url] of endpoints) {
    // Refused for its lack of parameters or of a client, not for its path or method.
    expect([400, 401]).toContain((await send({ url: '' }, String(url), {})).status);
  }
});

test('every grant type named is one that the token endpoint knows, and there is no other', async () => {
  const { body } = await send(oauth, path, { method: 'GET' });
  const named = body.grant_types_supported as string[];

  const others = ['implicit', 'urn:ietf:params:oauth:grant-type:device_code'];
  for (const grant_type of [...named, ...others]) {
    const { body: refusal } = await send(oauth, '/oauth/token', { form: { grant_type, client_id: 'x' } });
    expect(refusal.error === 'unsupported_grant_type').toBe(!named.includes(grant_type));
  }
  expect(named).toHaveLength(4);
});

test('the required members are there (RFC 8414 section 2)', async () => {
  const { body } = await send(oauth, path, { method: 'GET' });

  expect(body).toMatchObject({
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    scopes_supported: ['app', 'basic', 'me'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  });
});

test('other methods get 405', async () => {
  const answer = await send(oauth, path, { method: 'POST' });

  expectRefusal(answer, 405, 'invalid_request');
  expect(answer.headers.get('Allow')).toBe('GET, HEAD');
});

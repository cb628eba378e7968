import { request } from 'node:http';
import {
  addSecret,
  asClient,
  basic,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OauthTest,
  shareOauthTest,
  token,
} from './support.ts';

let oauth: OauthTest;
beforeAll(async () => {
  oauth = await shareOauthTest();
});

const form = { grant_type: 'client_credentials' };

test('a client authenticates by Basic or in the body', async () => {
  const application = await createApplication(oauth);
  const { clientId: id, secret } = application;

  expectTokens(await token(oauth, { form, basic: { id, secret } }), 'app');
  expectTokens(await token(oauth, { form: { ...form, ...asClient(application) } }), 'app');
  // RFC 6749 section 3.2.1 lets a client name itself beside the header.
  expectTokens(await token(oauth, { form: { ...form, client_id: id }, basic: { id, secret } }), 'app');
});

test('id and secret are form-decoded from Basic', async () => {
  const secret = 'ä +%&=:/?secret-with-everything';
  const application = await createApplication(oauth, { clientId: 'client+with%2B&signs', secret });

  expectTokens(await token(oauth, { form, basic: { id: application.clientId, secret } }), 'app');
  expectTokens(await token(oauth, { form: { ...form, ...asClient(application) } }), 'app');
  const undecodable = `Basic ${Buffer.from('%zz:secret').toString('base64')}`;
  expectRefusal(await token(oauth, { form, headers: { Authorization: undecodable } }), 401, 'invalid_client');
});

test('two methods at once are refused, whichever of them is right', async () => {
  const application = await createApplication(oauth);
  const { clientId: id, secret } = application;

  for (const [one, other] of [
    [secret, secret],
    [secret, 'wrong'],
    ['wrong', secret],
  ] as const) {
    const answer = await token(oauth, {
      form: { ...form, client_id: id, client_secret: other },
      basic: { id, secret: one },
    });
    expectRefusal(answer, 400, 'invalid_request');
  }
  const another = await token(oauth, { form: { ...form, client_id: 'another' }, basic: { id, secret } });
  expectRefusal(another, 400, 'invalid_request');
});

test('an unknown client, a wrong secret, none, a disabled client and an unreadable header get the identical 401', async () => {
  const { owner } = oauth.database;
  const application = await createApplication(oauth);
  const disabled = await createApplication(oauth);
  await owner.query('update oauth.applications set disabled_at = now() where id = $1', [disabled.id]);
  const { clientId: id } = application;
  const header = (Authorization: string) => ({ form, headers: { Authorization } });

  const answers = await Promise.all(
    [
      { form: { ...form, client_id: 'unknown', client_secret: 'wrong' } },
      { form: { ...form, client_id: id, client_secret: 'wrong' } },
      { form: { ...form, client_id: id, client_secret: application.secret.toUpperCase() } },
      { form: { ...form, client_id: id } },
      { form: { ...form, client_id: 'unknown' } },
      { form: { ...form, client_secret: application.secret } },
      { form: { ...form, ...asClient(disabled) } },
      { form },
      { form, basic: { id: 'unknown', secret: 'wrong' } },
      { form, basic: { id, secret: 'wrong' } },
      { form, basic: { id, secret: '' } },
      { form, basic: { id: '', secret: '' } },
      header('Basic'),
      header('Basic !!'),
      header(`Basic ${Buffer.from(id).toString('base64')}`),
      header(`Basic ${Buffer.from([0xff, 0x3a, 0xff]).toString('base64')}`),
      header('Bearer abc'),
      header('Digest username=a'),
    ].map((sent) => token(oauth, sent)),
  );

  for (const answer of answers) {
    expectRefusal(answer, 401, 'invalid_client');
    expect(answer.text).toBe(answers[0]?.text);
    expect(answer.headers.get('WWW-Authenticate')).toBe('Basic realm="graph-query-service", charset="UTF-8"');
  }
  expectTokens(await token(oauth, { form: { ...form, ...asClient(application) } }), 'app');
});

test('two Authorization headers are refused', async () => {
  const { clientId, secret } = await createApplication(oauth);

  const status = await new Promise((resolve, reject) => {
    const sent = request(`${oauth.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: [basic(clientId, secret), basic(clientId, secret)] as unknown as string },
    });
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    sent.end();
  });

  expect(status).toBe(400);
});

test('the two newest secrets are valid', async () => {
  const application = await createApplication(oauth);
  const [second, third] = ['second-secret', 'third-secret'];
  const tryAll = async () => {
    const secrets = [application.secret, second, third];
    const answers = await Promise.all(
      secrets.map((secret) => token(oauth, { form, basic: { id: application.clientId, secret } })),
    );
    return answers.map(({ status }) => status);
  };

  expect(await tryAll()).toEqual([200, 401, 401]);
  await addSecret(oauth, application, second);
  expect(await tryAll()).toEqual([200, 200, 401]);
  await addSecret(oauth, application, third);
  expect(await tryAll()).toEqual([401, 200, 200]);
});

test('a public client only says who it is; any secret from it is refused', async () => {
  const user = await createUser(oauth);
  const application = await createApplication(oauth, { confidential: false, scopes: ['me'] });
  const signIn = { grant_type: 'password', username: user.email, password: user.password };
  const { clientId } = application;

  expectTokens(await token(oauth, { form: { ...signIn, client_id: clientId } }), 'me');
  expectTokens(await token(oauth, { form: { ...signIn, client_id: clientId, client_secret: '' } }), 'me');
  // Go's OAuth client begins with this.
  expectTokens(await token(oauth, { form: signIn, basic: { id: clientId, secret: '' } }), 'me');
  const withSecret = await token(oauth, { form: { ...signIn, client_id: clientId, client_secret: 'x' } });
  expectRefusal(withSecret, 401, 'invalid_client');
  expectRefusal(await token(oauth, { form: signIn, basic: { id: clientId, secret: 'x' } }), 401, 'invalid_client');
});

test('a secret that a public client once had is refused, too', async () => {
  const user = await createUser(oauth);
  const application = await createApplication(oauth, { confidential: false, scopes: ['me'] });
  await addSecret(oauth, application, application.secret);

  const signIn = { grant_type: 'password', username: user.email, password: user.password, ...asClient(application) };
  expectRefusal(await token(oauth, { form: signIn }), 401, 'invalid_client');
});

test('the application of a mobile app may come without its secret for a person, but not with a wrong one', async () => {
  const user = await createUser(oauth);
  const mobile = await createApplication(oauth, { scopes: ['app', 'me'], mobileApp: 'password' });
  const plain = await createApplication(oauth, { scopes: ['app', 'me'] });
  const signIn = { grant_type: 'password', username: user.email, password: user.password };

  expectTokens(await token(oauth, { form: { ...signIn, client_id: mobile.clientId } }), 'me');
  expectTokens(await token(oauth, { form: { ...signIn, ...asClient(mobile) } }), 'me');
  const wrong = await token(oauth, { form: { ...signIn, client_id: mobile.clientId, client_secret: 'wrong' } });
  expectRefusal(wrong, 401, 'invalid_client');
  expectRefusal(await token(oauth, { form: { ...signIn, client_id: plain.clientId } }), 401, 'invalid_client');
  expectTokens(await token(oauth, { form: { ...signIn, ...asClient(plain) } }), 'me');
});

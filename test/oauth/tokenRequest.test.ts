import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import {
  asClient,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OauthTest,
  send,
  shareOauthTest,
  type TestApplication,
  token,
} from './support.ts';

let oauth: OauthTest;
let application: TestApplication;
beforeAll(async () => {
  oauth = await shareOauthTest();
  application = await createApplication(oauth);
});

const formType = 'application/x-www-form-urlencoded';
const valid = () => ({ grant_type: 'client_credentials', scope: 'app', ...asClient(application) });
const encoded = () => new URLSearchParams(valid()).toString();

test('a form-encoded body is taken, with a charset or without', async () => {
  for (const type of [formType, `${formType}; charset=UTF-8`, `${formType};charset="utf-8"`, formType.toUpperCase()]) {
    expectTokens(await token(oauth, { raw: { body: encoded(), type } }), 'app');
  }
});

test('any other content type is refused', async () => {
  const { grant_type, ...rest } = valid();
  const json = JSON.stringify({ grant_type, ...rest });

  for (const type of ['application/json', 'text/plain', 'multipart/form-data', `${formType}x`, 'nonsense']) {
    expectRefusal(await token(oauth, { raw: { body: json, type } }), 400, 'invalid_request');
    expectRefusal(await token(oauth, { raw: { body: encoded(), type } }), 400, 'invalid_request');
  }
  const latin = await token(oauth, { raw: { body: encoded(), type: `${formType}; charset=iso-8859-1` } });
  expectRefusal(latin, 400, 'invalid_request');
  const untyped = await token(oauth, { raw: { body: new TextEncoder().encode(encoded()) } });
  expectRefusal(untyped, 400, 'invalid_request');
});

test('a body of up to 56 KiB is read, and no more', async () => {
  const padded = (length: number) => `${encoded()}&padding=`.padEnd(length, 'x');

  expectTokens(await token(oauth, { raw: { body: padded(56 * 1024), type: formType } }), 'app');
  expectRefusal(await token(oauth, { raw: { body: padded(56 * 1024 + 1), type: formType } }), 413, 'invalid_request');
});

test('a compressed body is refused', async () => {
  const body = new Uint8Array(gzipSync(encoded()));

  const answer = await token(oauth, { raw: { body, type: formType }, headers: { 'Content-Encoding': 'gzip' } });

  expectRefusal(answer, 400, 'invalid_request');
});

test('bytes that are not UTF-8, and U+0000, are refused wherever they are', async () => {
  for (const body of [
    'scope=%ff',
    'scope=%c3%28',
    'scope=%ed%a0%80',
    'scope=%zz',
    '%ff=a',
    'scope=a%00',
    'unknown=%00',
    '%00',
  ]) {
    expectRefusal(
      await token(oauth, { raw: { body: `${encoded()}&${body}`, type: formType } }),
      400,
      'invalid_request',
    );
    expectRefusal(await token(oauth, { form: valid(), query: body }), 400, 'invalid_request');
  }
  const rawBytes = Buffer.concat([Buffer.from(`${encoded()}&x=`), Buffer.from([0xff, 0xfe])]);
  expectRefusal(
    await token(oauth, { raw: { body: new Uint8Array(rawBytes), type: formType } }),
    400,
    'invalid_request',
  );
  expectTokens(await token(oauth, { raw: { body: `${encoded()}&unknown=%C3%A4`, type: formType } }), 'app');
});

test('a known parameter that is repeated or bracketed is refused, an unknown one is ignored', async () => {
  for (const extra of [
    'scope=app',
    'scope=',
    'scope[]=app',
    'scope[0]=app',
    'scope%5B%5D=app',
    'grant_type[x]=y',
    'client_id[]=x',
  ]) {
    expectRefusal(
      await token(oauth, { raw: { body: `${encoded()}&${extra}`, type: formType } }),
      400,
      'invalid_request',
    );
  }
  for (const extra of ['x=1&x=2', 'x[]=1', '__proto__=1', 'constructor[prototype]=1', 'toString=1', '&&', '=']) {
    expectTokens(await token(oauth, { raw: { body: `${encoded()}&${extra}`, type: formType } }), 'app');
  }
});

test('a credential in the query is refused although the body is right', async () => {
  for (const name of [
    'client_secret',
    'password',
    'username',
    'refresh_token',
    'external_authentication_token',
    'access_token',
    'token',
    'code',
    'client_secret[]',
  ]) {
    expectRefusal(await token(oauth, { form: valid(), query: `${name}=x` }), 400, 'invalid_request');
  }
  expectTokens(await token(oauth, { form: valid(), query: 'scope=nonsense&utm=1' }), 'app');
});

test('parameters in the query of an empty POST are not read', async () => {
  const { grant_type, scope } = valid();
  const basic = { id: application.clientId, secret: application.secret };

  expectRefusal(
    await token(oauth, { query: `grant_type=${grant_type}&scope=${scope}`, basic }),
    400,
    'invalid_request',
  );
  expectRefusal(await token(oauth, { query: encoded() }), 400, 'invalid_request');
  expectTokens(await token(oauth, { form: { grant_type, scope }, basic }), 'app');
});

test('each grant type refuses the lack of what it needs, for every client', async () => {
  for (const [form, error] of [
    [{}, 'invalid_request'],
    [{ grant_type: '' }, 'invalid_request'],
    [{ grant_type: 'password', username: 'a' }, 'invalid_request'],
    [{ grant_type: 'password', password: 'a' }, 'invalid_request'],
    [{ grant_type: 'password', username: '', password: 'a' }, 'invalid_request'],
    [{ grant_type: 'refresh_token' }, 'invalid_request'],
    [{ grant_type: 'password', username: 'a', password: 'b', external_authentication_token: 'c' }, 'invalid_request'],
    [{ grant_type: 'implicit' }, 'unsupported_grant_type'],
    [{ grant_type: 'Client_Credentials' }, 'unsupported_grant_type'],
    [{ grant_type: '__proto__' }, 'unsupported_grant_type'],
    [{ grant_type: 'password', username: 'a', password: 'b', scope: 'app' }, 'invalid_scope'],
    [{ grant_type: 'client_credentials', scope: 'me' }, 'invalid_scope'],
  ] as [Record<string, string>, string][]) {
    expectRefusal(await token(oauth, { form }), 400, error);
    expectRefusal(await token(oauth, { form: { ...form, ...asClient(application) } }), 400, error);
  }
});

test('an empty request is refused', async () => {
  expectRefusal(await token(oauth, {}), 400, 'invalid_request');
  expectRefusal(await token(oauth, { raw: { body: '', type: 'application/json' } }), 400, 'invalid_request');
});

test('other methods get 405 with what is allowed', async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'OPTIONS']) {
    const answer = await token(oauth, { method });
    expectRefusal(answer, 405, 'invalid_request');
    expect(answer.headers.get('Allow')).toBe('POST, DELETE');
  }
  const head = await token(oauth, { method: 'HEAD' });
  expect({ status: head.status, allow: head.headers.get('Allow'), text: head.text }).toEqual({
    status: 405,
    allow: 'POST, DELETE',
    text: '',
  });
});

test('a path below /oauth that does not exist is not cached either', async () => {
  const answer = await send(oauth, '/oauth/nothing', { method: 'GET' });

  expect(answer.status).toBe(404);
  expect(answer.headers.get('Cache-Control')).toBe('no-store');
});

test('a client that goes away in the middle of its body leaves nothing behind', async () => {
  const { port } = new URL(oauth.url);
  const logged = oauth.logs.length;

  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      const head = `POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Type: ${formType}\r\nContent-Length: 1000\r\n\r\n`;
      socket.write(`${head}grant_type=`, () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });

  expectTokens(await token(oauth, { form: valid() }), 'app');
  expect(oauth.logs.slice(logged).filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
});

test('nothing that was sent is logged', async () => {
  const user = await createUser(oauth);
  const mobile = await createApplication(oauth, { scopes: ['me'] });
  const { body } = await token(oauth, {
    form: { grant_type: 'password', username: user.email, password: user.password, ...asClient(mobile) },
  });
  await token(oauth, { form: { ...valid(), client_secret: 'wrong-secret-1' } });
  await token(oauth, { raw: { body: 'wrong-body-1', type: 'application/json' } });
  await token(oauth, { form: valid(), query: 'client_secret=wrong-query-1' });

  const log = oauth.logs.join('\n');
  expect(log).toContain('the secret is wrong');
  for (const secret of [
    user.password,
    user.email,
    mobile.secret,
    application.secret,
    body.access_token,
    body.refresh_token,
  ]) {
    expect(log).not.toContain(secret);
  }
  expect(log).not.toMatch(/wrong-(secret|body|query)-1/);
});

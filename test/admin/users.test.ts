import {
  asClient,
  bearer,
  createApplication,
  createUser,
  expectRefusal,
  expectTokens,
  type OwnOauthTest,
  send,
  signIn,
  startOauthTest,
  type TestApplication,
  token,
} from '../oauth/support.ts';
import { startTestService, type TestService, testSecretKey } from '../support/service.ts';
import { admin, expectDone, expectFailure } from './inProcess.ts';
import { runAdmin } from './support.ts';

let oauth: OwnOauthTest;
let other: TestService;
let organization: string;
let application: TestApplication;
beforeAll(async () => {
  oauth = await startOauthTest();
  other = await startTestService(oauth.database);
  const { rows } = await oauth.database.owner.query('select name from app_hidden.organizations');
  organization = rows[0].name;
  application = await createApplication(oauth, { scopes: ['me'] });
});
afterAll(async () => {
  await other.stop();
  await oauth.stop();
});

const run = (command: string, ...args: string[]) =>
  admin(oauth.database, [command, '--organization', organization, ...args]);

const signInAs = (server: { url: string }, username: string, password: string) =>
  token(server, { form: { grant_type: 'password', username, password, ...asClient(application) } });

const insertSession = async (userId: string) => {
  await oauth.database.owner.query(
    `insert into oauth.sessions (organization_id, sid, sess, expire)
     values ($1, rpad(replace($2::text, '-', ''), 43, '0'), jsonb_build_object('userId', $2::text), now() + interval '1 hour')`,
    [oauth.organizationId, userId],
  );
};

async function statusOf(accessToken: string): Promise<number[]> {
  const statuses: number[] = [];
  for (const server of [oauth, other]) {
    const info = await send(server, '/oauth/token/info', { method: 'GET', headers: bearer(accessToken) });
    const graph = await send(server, '/graphql', {
      headers: { ...bearer(accessToken), 'Content-Type': 'application/json' },
      raw: { body: JSON.stringify({ query: '{ viewer { id } }' }) },
    });
    statuses.push(info.status, graph.status);
  }
  return statuses;
}

describe('disable-user and enable-user', () => {
  it('end and bring back what the user may do, on every server from the next request on', async () => {
    const { access_token, refresh_token, user } = await signIn(oauth, asClient(application));
    await insertSession(user.id);
    const renewal = { grant_type: 'refresh_token', refresh_token, ...asClient(application) };
    expect(await statusOf(access_token)).toEqual([200, 200, 200, 200]);

    const disabled = expectDone(await run('disable-user', '--email', user.email.toUpperCase()));

    expect(disabled).toEqual({
      externalIdentifier: null,
      email: user.email,
      disabledAt: expect.stringMatching(/^\d{4}-/),
    });
    expect(expectDone(await run('disable-user', '--email', user.email))).toEqual(disabled);
    expect(await statusOf(access_token)).toEqual([401, 401, 401, 401]);
    expectRefusal(await signInAs(other, user.email, user.password), 400, 'invalid_grant');
    expectRefusal(await token(other, { form: renewal }), 400, 'invalid_grant');
    const sessions = await oauth.database.owner.query('select from oauth.sessions where user_id = $1', [user.id]);
    expect(sessions.rowCount).toBe(0);

    expect(expectDone(await run('enable-user', '--email', user.email)).disabledAt).toBeNull();
    expect(await statusOf(access_token)).toEqual([200, 200, 200, 200]);
    expectTokens(await signInAs(other, user.email, user.password), 'me');
  });

  it('find the user by external identifier, too, and refuse who is not there', async () => {
    const user = await createUser(oauth);
    await oauth.database.owner.query('update app_public.users set external_identifier = $2 where id = $1', [
      user.id,
      'u-1',
    ]);

    expect(expectDone(await run('disable-user', '--external-identifier', 'u-1'))).toMatchObject({
      externalIdentifier: 'u-1',
      email: user.email,
    });

    for (const command of ['disable-user', 'enable-user']) {
      expectFailure(await run(command, '--email', 'nobody@test'), 'has no user with the e-mail address nobody@test.');
      expectFailure(
        await run(command, '--external-identifier', 'U-1'),
        'has no user with the external identifier U-1.',
      );
      expectFailure(
        await admin(oauth.database, [command, '--organization', 'Nowhere', '--email', user.email]),
        'There is no organization Nowhere.',
      );
      expectFailure(await run(command), "name the user by '--external-identifier <identifier>' or '--email", 64);
      expectFailure(
        await run(command, '--email', user.email, '--external-identifier', 'u-1'),
        "option '--external-identifier <identifier>' cannot be used with option '--email <address>'",
        64,
      );
    }
  });
});

describe('end-user-tokens', () => {
  it('ends all that was issued for a user, and nothing of another', async () => {
    const { access_token, refresh_token, user } = await signIn(oauth, asClient(application));
    const bystander = await signIn(oauth, asClient(application));
    await insertSession(user.id);
    await insertSession(bystander.user.id);

    expect(expectDone(await run('end-user-tokens', '--email', user.email))).toEqual({
      externalIdentifier: null,
      email: user.email,
      grantsEnded: 1,
      sessionsEnded: 1,
    });

    expect(await statusOf(access_token)).toEqual([401, 401, 401, 401]);
    const renewal = { grant_type: 'refresh_token', refresh_token, ...asClient(application) };
    expectRefusal(await token(other, { form: renewal }), 400, 'invalid_grant');
    expect(await statusOf(bystander.access_token)).toEqual([200, 200, 200, 200]);
    expectTokens(await signInAs(other, user.email, user.password), 'me');
  });

  it('refuses who is not there', async () => {
    expectFailure(await run('end-user-tokens', '--email', 'nobody@test'), 'has no user with the e-mail address');
  });
});

describe('set-password', () => {
  const setPassword = (email: string, input: string) =>
    runAdmin(
      ['set-password', '--organization', organization, '--email', email],
      { DATABASE_URL: oauth.database.ownerUrl, SECRET_KEY: testSecretKey },
      input,
    );

  it('sets the first line of standard input, whatever the password was, and ends sessions', async () => {
    const user = await createUser(oauth, { password: null });
    await insertSession(user.id);

    const { code, stdout } = await setPassword(user.email, 'a brand new password\n');

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ externalIdentifier: null, email: user.email, sessionsEnded: 1 });
    expectTokens(await signInAs(oauth, user.email, 'a brand new password'), 'me');

    expect(await setPassword(user.email, 'and another one')).toMatchObject({ code: 0 });
    expectRefusal(await signInAs(oauth, user.email, 'a brand new password'), 400, 'invalid_grant');
    expectTokens(await signInAs(oauth, user.email, 'and another one'), 'me');
  });

  it('refuses a short password, none, and who is not there, and repeats nothing', async () => {
    const user = await createUser(oauth);

    const short = await setPassword(user.email, 'sesame\n');
    const none = await setPassword(user.email, '');
    const nobody = await setPassword('nobody@test', 'a brand new password\n');

    expect([short, none, nobody].map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      Array(3).fill({ code: 1, stdout: '' }),
    );
    expect(short.stderr.trim()).toBe('The password must have 8 to 200 characters.');
    expect(none.stderr.trim()).toBe('The password is read from standard input, which is empty.');
    expect(nobody.stderr.trim()).toContain('has no user with the e-mail address nobody@test.');
    expectTokens(await signInAs(oauth, user.email, user.password), 'me');
  });
});

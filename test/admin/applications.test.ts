import {
  asClient,
  bearer,
  createApplication,
  expectRefusal,
  expectTokens,
  issueOwn,
  type OwnOauthTest,
  send,
  signIn,
  startOauthTest,
  token,
} from '../oauth/support.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { admin, expectDone, expectFailure } from './inProcess.ts';

let oauth: OwnOauthTest;
/** Another process' server, in effect: its own pool and memory on the same database. */
let other: TestService;
let organization: string;
beforeAll(async () => {
  oauth = await startOauthTest();
  other = await startTestService(oauth.database);
  const { rows } = await oauth.database.owner.query('select name from app_hidden.organizations');
  organization = rows[0].name;
});
afterAll(async () => {
  await other.stop();
  await oauth.stop();
});

const run = (...args: string[]) => admin(oauth.database, args);

/** Asks both servers whether the token is good. */
async function statusOf(accessToken: string): Promise<number[]> {
  const answers = [oauth, other].map((server) =>
    send(server, '/oauth/token/info', { method: 'GET', headers: bearer(accessToken) }),
  );
  return (await Promise.all(answers)).map(({ status }) => status);
}

describe('create-application', () => {
  const create = (clientId: string, ...more: string[]) =>
    run('create-application', '--organization', organization, '--name', 'Backend', '--client-id', clientId, ...more);

  it('adds an application whose secret works', async () => {
    const result = expectDone(await create('created', '--scope', 'app', 'basic'));

    expect(result).toEqual({
      organization,
      name: 'Backend',
      clientId: 'created',
      clientSecret: expect.stringMatching(/^gqs_cs_/),
    });
    const form = { grant_type: 'client_credentials', client_id: 'created', client_secret: String(result.clientSecret) };
    expectTokens(await token(oauth, { form }), 'app basic');
  });

  it('adds a public one without a secret', async () => {
    const result = expectDone(
      await create('public', '--public', '--redirect-uri', 'http://127.0.0.1/callback', '--mobile-app', 'password'),
    );

    expect(result).toEqual({ organization, name: 'Backend', clientId: 'public' });
    const { rows } = await oauth.database.owner.query(
      'select confidential, scopes, redirect_uris, mobile_app_authentication_type from oauth.applications where client_id = $1',
      ['public'],
    );
    expect(rows).toEqual([
      {
        confidential: false,
        scopes: ['me'],
        redirect_uris: ['http://127.0.0.1/callback'],
        mobile_app_authentication_type: 'password',
      },
    ]);
  });

  it('refuses what is taken, unknown or against a rule, and changes nothing', async () => {
    const count = async () => (await oauth.database.owner.query('select from oauth.applications')).rowCount;
    const { clientId } = await createApplication(oauth);
    const before = await count();

    expectFailure(await create(clientId), `There is an application ${clientId} already.`);
    expectFailure(await create('a:b'), 'clientId: must have 1 to 200 visible ASCII characters');
    expectFailure(await create('new', '--public', '--scope', 'app'), 'scopes: must be "me" alone');
    expectFailure(await create('new', '--redirect-uri', 'http://example.com/'), 'redirectUris[0]: must be https');
    expectFailure(await create('new', '--scope', 'root'), 'scopes[0]: must be "app" or "basic" or "me"');
    expectFailure(
      await run('create-application', '--organization', 'Nowhere', '--name', 'Backend', '--client-id', 'new'),
      'There is no organization Nowhere.',
    );
    expectFailure(await create('new', '--mobile-app', 'fax'), 'Allowed choices are', 64);
    expectFailure(await run('create-application', '--name', 'Backend'), "required option '--organization <name>'", 64);
    expect(await count()).toBe(before);
  });
});

describe('list-applications', () => {
  it('lists them with what matters about their secrets, and never a secret', async () => {
    const application = await createApplication(oauth, { clientId: 'listed' });

    const all = await run('list-applications');
    const own = await run('list-applications', '--organization', organization);

    expect(expectDone(all)).toEqual(expectDone(own));
    expect(all.result.applications).toContainEqual({
      organization,
      name: 'Application',
      clientId: 'listed',
      confidential: true,
      scopes: ['app'],
      redirectUris: [],
      mobileAppAuthenticationType: null,
      disabledAt: null,
      secretsCreatedAt: [expect.stringMatching(/^\d{4}-/)],
    });
    expect(JSON.stringify(all.result)).not.toContain(application.secret);
  });

  it('refuses an organization that is not there', async () => {
    expectFailure(await run('list-applications', '--organization', 'Nowhere'), 'There is no organization Nowhere.');
  });
});

describe('disable-application and enable-application', () => {
  it('end and bring back what the application may do, on every server from the next request on', async () => {
    const application = await createApplication(oauth);
    const { access_token } = await issueOwn(oauth, application, 'app');
    const form = { grant_type: 'client_credentials', ...asClient(application) };
    expect(await statusOf(access_token)).toEqual([200, 200]);

    const disabled = expectDone(await run('disable-application', application.clientId));
    expect(disabled).toEqual({ clientId: application.clientId, disabledAt: expect.stringMatching(/^\d{4}-/) });
    expect(expectDone(await run('disable-application', application.clientId))).toEqual(disabled);
    expect(await statusOf(access_token)).toEqual([401, 401]);
    for (const server of [oauth, other]) expectRefusal(await token(server, { form }), 401, 'invalid_client');

    expect(expectDone(await run('enable-application', application.clientId)).disabledAt).toBeNull();
    expect(await statusOf(access_token)).toEqual([200, 200]);
    expectTokens(await token(other, { form }), 'app');
  });

  it('refuse an unknown client id', async () => {
    expectFailure(await run('disable-application', 'nobody'), 'There is no application nobody.');
    expectFailure(await run('enable-application', 'nobody'), 'There is no application nobody.');
    expectFailure(await run('disable-application'), "missing required argument 'client-id'", 64);
  });
});

describe('rotate-secret and retire-secret', () => {
  it('keep two secrets valid until the older one is retired', async () => {
    const application = await createApplication(oauth);
    const { clientId, secret } = application;
    const form = (client_secret: string) => ({ grant_type: 'client_credentials', client_id: clientId, client_secret });

    const rotated = expectDone(await run('rotate-secret', clientId));
    expect(rotated).toMatchObject({ clientId, validSecrets: 2 });
    const newest = String(rotated.clientSecret);
    for (const valid of [secret, newest]) expectTokens(await token(oauth, { form: form(valid) }), 'app');

    expectFailure(await run('rotate-secret', clientId), `run \`retire-secret ${clientId}\` first`);
    for (const valid of [secret, newest]) expectTokens(await token(oauth, { form: form(valid) }), 'app');

    expect(expectDone(await run('retire-secret', clientId))).toEqual({ clientId, validSecrets: 1 });
    for (const server of [oauth, other]) {
      expectRefusal(await token(server, { form: form(secret) }), 401, 'invalid_client');
      expectTokens(await token(server, { form: form(newest) }), 'app');
    }
    expectFailure(await run('retire-secret', clientId), `${clientId} has no older secret`);
    expectTokens(await token(oauth, { form: form(newest) }), 'app');
  });

  it('of two rotations at once one waits and finds two secrets', async () => {
    const { clientId } = await createApplication(oauth);
    const rotations = await Promise.all([rotateInProcess(clientId), rotateInProcess(clientId)]);

    expect(rotations.sort()).toEqual(['refused', 'rotated']);
  });

  it('refuse a public application and an unknown one', async () => {
    const { clientId } = await createApplication(oauth, { confidential: false, scopes: ['me'] });

    for (const command of ['rotate-secret', 'retire-secret']) {
      expectFailure(await run(command, clientId), 'is a public application: it has no secret');
      expectFailure(await run(command, 'nobody'), 'There is no application nobody.');
    }
  });
});

describe('end-application-tokens', () => {
  it('ends all that an application was issued, and nothing of another', async () => {
    const application = await createApplication(oauth, { scopes: ['app', 'me'] });
    const bystander = await createApplication(oauth);
    const own = await issueOwn(oauth, application, 'app');
    const person = await signIn(oauth, asClient(application));
    const foreign = await issueOwn(oauth, bystander, 'app');
    await insertCode(application.id, person.user.id);

    expect(expectDone(await run('end-application-tokens', application.clientId))).toEqual({
      clientId: application.clientId,
      grantsEnded: 2,
    });

    expect(await statusOf(own.access_token)).toEqual([401, 401]);
    expect(await statusOf(person.access_token)).toEqual([401, 401]);
    expect(await statusOf(foreign.access_token)).toEqual([200, 200]);
    const renewal = { grant_type: 'refresh_token', refresh_token: person.refresh_token, ...asClient(application) };
    expectRefusal(await token(other, { form: renewal }), 400, 'invalid_grant');
    expect((await oauth.database.owner.query('select from oauth.authorization_codes')).rowCount).toBe(0);
    expectTokens(await token(oauth, { form: { grant_type: 'client_credentials', ...asClient(application) } }), 'app');
  });

  it('refuses an unknown client id', async () => {
    expectFailure(await run('end-application-tokens', 'nobody'), 'There is no application nobody.');
  });
});

const insertCode = (applicationId: string, userId: string) =>
  oauth.database.owner.query(
    `insert into oauth.authorization_codes (
       organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
     values ($1, sha256('code'), $2, $3, '{me}', 'http://127.0.0.1/', repeat('x', 43), now() + interval '1 minute')`,
    [oauth.organizationId, applicationId, userId],
  );

/** Without the command line around it, whose output two at once would mix. */
async function rotateInProcess(clientId: string): Promise<'rotated' | 'refused'> {
  const { rotateSecret } = await import('../../src/commands/admin/applicationSecrets.ts');
  return rotateSecret(oauth.database.owner, clientId).then(
    () => 'rotated' as const,
    () => 'refused' as const,
  );
}

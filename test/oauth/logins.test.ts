import { encodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { ask } from '../graphql/client.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins, type TestLogins } from '../support/logins.ts';
import { startTestService, type TestService, unthrottled } from '../support/service.ts';
import { until } from '../support/until.ts';
import {
  asClient,
  createApplication,
  createOrganization,
  createUser,
  expectTokens,
  issueOwn,
  type OauthTest,
  send,
  signIn,
  type TestApplication,
  token,
} from './support.ts';

describe('a server whose OAuth server has a login role of its own', () => {
  let database: TestDatabase;
  let logins: TestLogins;
  let service: TestService;
  let oauth: OauthTest;
  let application: TestApplication;

  beforeAll(async () => {
    database = await createTestDatabase();
    logins = nameLogins(database);
    await migrate(logins, createLog('silent'));
    service = await startTestService(logins, { ...unthrottled, OAUTH_DATABASE_URL: logins.oauthUrl });
    oauth = { ...service, database, organizationId: await createOrganization(database) };
    application = await createApplication(oauth, { scopes: ['app', 'me'], mobileApp: 'password' });
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
    await logins.drop();
  });

  it('issues, renews, introspects and revokes tokens, which GraphQL accepts and refuses', async () => {
    const { access_token, refresh_token, user } = await signIn(oauth, asClient(application));
    expect(await query(access_token, '{ viewer { email } }')).toEqual([200, { viewer: { email: user.email } }]);

    const form = { grant_type: 'refresh_token', refresh_token, ...asClient(application) };
    const renewed = expectTokens(await token(oauth, { form }), 'me');
    expect((await query(renewed.access_token, '{ viewer { email } }'))[0]).toBe(200);
    const asked = { form: { token: renewed.access_token, ...asClient(application) } };
    expect((await send(oauth, '/oauth/introspect', asked)).body).toMatchObject({ active: true, scope: 'me' });

    expect((await send(oauth, '/oauth/revoke', asked)).status).toBe(200);
    expect((await query(renewed.access_token, '{ viewer { email } }'))[0]).toBe(401);
    expect((await send(oauth, '/oauth/introspect', asked)).body).toEqual({ active: false });
  });

  it('does each as its own role', async () => {
    const { access_token } = await issueOwn(oauth, application, 'app');
    const id = encodeNodeId(['User', (await createUser(oauth)).id]);
    const rename = `mutation { userUpdate(id: "${id}", fullName: "Grace Hopper") { user { fullName } } }`;
    const renamed = { userUpdate: { user: { fullName: 'Grace Hopper' } } };
    expect(await query(access_token, rename)).toEqual([200, renamed]);

    const { rows: changes } = await database.owner.query(
      `select distinct login, role from audit.changes
       where organization_id = $1 and login in ($2, $3) order by 1`,
      [oauth.organizationId, logins.names.authenticator, logins.names.oauth],
    );
    expect(changes).toEqual([
      { login: logins.names.authenticator, role: 'graph_app' },
      { login: logins.names.oauth, role: 'graph_oauth' },
    ]);
    const { rows: sessions } = await database.owner.query(
      `select distinct usename as login from pg_stat_activity
       where datname = current_database() and application_name = 'graph-query-service' and usename in ($1, $2) order by 1`,
      [logins.names.authenticator, logins.names.oauth],
    );
    expect(sessions.map(({ login }) => login)).toEqual([logins.names.authenticator, logins.names.oauth]);
  });

  it('needs both: with the one for GraphQL alone it is not ready, and says what it lacks', async () => {
    const alone = await startTestService(logins);

    const response = await fetch(`${alone.url}/readyz`);

    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      reason: expect.stringContaining(
        "AUTH_DATABASE_URL's role may not become graph_oauth, graph_worker; set OAUTH_DATABASE_URL",
      ),
    });
    await alone.stop();
  });

  it.each([
    ['bypasses row-level security', 'bypassrls', 'nobypassrls', 'bypasses row-level security; name another'],
    ['has no connection left', 'connection limit 0', 'connection limit -1', 'has no connection left'],
  ])('is not ready while a role %s, and is afterwards', async (_what, change, back, reason) => {
    await asAdministrator(`alter role ${logins.names.authenticator} ${change}`);
    const hindered = await startTestService(logins, { OAUTH_DATABASE_URL: logins.oauthUrl });
    const readyz = async () => {
      const response = await fetch(`${hindered.url}/readyz`);
      return { status: response.status, body: (await response.json()) as unknown };
    };

    expect(await readyz()).toMatchObject({ status: 503, body: { reason: expect.stringContaining(reason) } });

    await asAdministrator(`alter role ${logins.names.authenticator} ${back}`);
    await until(async () => (await readyz()).status === 200);
    await hindered.stop();
  });

  it('is not ready, and says which role, while one of the two is refused', async () => {
    const wrong = Object.assign(new URL(logins.oauthUrl), { password: 'wrong' }).href;
    const refused = await startTestService(logins, { OAUTH_DATABASE_URL: wrong });

    const response = await fetch(`${refused.url}/readyz`);

    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      reason: expect.stringContaining("The database refuses OAUTH_DATABASE_URL's role"),
    });
    await refused.stop();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  });

  async function query(accessToken: string, document: string): Promise<[number, unknown]> {
    const { status, body } = await ask(oauth, accessToken, document);
    return [status, body.data];
  }
});

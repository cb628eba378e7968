import { randomUUID } from 'node:crypto';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { nameLogins } from '../support/logins.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

describe('readiness', () => {
  let database: TestDatabase;
  let service: TestService;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database);
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it('is there once the database answers, is migrated and the schema is built', async () => {
    expect(await readiness(service)).toEqual([200, { status: 'ready' }]);
  });

  it('goes while migrations are behind and comes back with them', async () => {
    const { rows } = await database.owner.query(
      `delete from graphile_migrate.migrations where filename = (select max(filename) from graphile_migrate.migrations) returning *`,
    );

    const reason = 'Migrations are behind; run `npm run db:migrate`.';
    expect(await readiness(service)).toEqual([503, { status: 'unavailable', reason }]);

    await database.owner.query(
      'insert into graphile_migrate.migrations select * from json_populate_record(null::graphile_migrate.migrations, $1)',
      [rows[0]],
    );
    expect(await readiness(service)).toEqual([200, { status: 'ready' }]);
  });

  it('goes while the database has run other migrations, and says where to read on', async () => {
    const hash = `(select max(filename) from graphile_migrate.migrations)`;
    await database.owner.query(`update graphile_migrate.migrations set hash = hash || 'x' where filename = ${hash}`);

    const reason =
      'The database has run other migrations than this version has; docs/upgrading.md says how to carry its data over.';
    expect(await readiness(service)).toEqual([503, { status: 'unavailable', reason }]);

    await database.owner.query(`update graphile_migrate.migrations set hash = rtrim(hash, 'x')`);
    expect(await readiness(service)).toEqual([200, { status: 'ready' }]);
  });

  it('stays beside migrations of a newer version, and names them', async () => {
    await database.owner.query(
      `insert into graphile_migrate.migrations (hash, filename) values ('x', '999999.sql'); notify graph_query_service_migrations`,
    );
    await until(async () => (await readiness(service))[1].notice !== undefined);
    expect(await readiness(service)).toEqual([
      200,
      { status: 'ready', notice: 'The database has every migration of this version, and 999999.sql of a newer one.' },
    ]);

    await database.owner.query(
      `delete from graphile_migrate.migrations where filename = '999999.sql'; notify graph_query_service_migrations`,
    );
    await until(async () => (await readiness(service))[1].notice === undefined);
  });

  it('goes while the rights of its roles are missing', async () => {
    await database.owner.query('revoke usage on schema app_public from graph_app');
    const reason = expect.stringContaining('restored without them (--no-acl)');
    expect(await readiness(service)).toEqual([503, { status: 'unavailable', reason }]);

    await database.owner.query('grant usage on schema app_public to graph_app');
    expect(await readiness(service)).toEqual([200, { status: 'ready' }]);
  });

  it('goes while the database is away and comes back with it; the process lives on', async () => {
    const name = new URL(database.authUrl).pathname.slice(1);
    await asAdministrator(`alter database ${name} allow_connections false`);
    await asAdministrator(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);

    expect(await readiness(service)).toEqual([503, { status: 'unavailable', reason: 'The database does not answer.' }]);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);

    await asAdministrator(`alter database ${name} allow_connections true`);
    await until(async () => (await readiness(service))[0] === 200);
  });
});

describe('a server whose role may not connect to the database', () => {
  it('says what to do, and serves as soon as it is done', async () => {
    const database = await createTestDatabase();
    const logins = nameLogins(database);
    await migrate(logins, createLog('silent'));
    const service = await startTestService(logins, { OAUTH_DATABASE_URL: logins.oauthUrl });
    const name = new URL(logins.ownerUrl).pathname.slice(1);
    await asAdministrator(`revoke connect on database ${name} from ${logins.names.authenticator}`);
    await asAdministrator(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${logins.names.authenticator}'`,
    );

    const reason = expect.stringMatching(/refuses AUTH_DATABASE_URL's role; `npm run db:migrate` creates it/);
    expect(await readiness(service)).toEqual([503, { status: 'unavailable', reason }]);

    await migrate(logins, createLog('silent'));
    await until(async () => (await readiness(service))[0] === 200);
    await service.stop();
    await database.drop();
    await logins.drop();
  });
});

describe('a server on a database without migrations', () => {
  it('answers 503 and says what to do, then serves as soon as it is done', async () => {
    const suffix = randomUUID().slice(0, 8);
    const template = new URL(process.env.TEST_OWNER_URL ?? '');
    await asAdministrator(`create database empty_${suffix} template template0`);
    const ownerUrl = Object.assign(new URL(template), { pathname: `/empty_${suffix}` }).href;
    const authUrl = Object.assign(new URL(ownerUrl), { username: `later_${suffix}`, password: 'secret' }).href;
    const service = await startTestService({ ownerUrl, authUrl });

    const [status, body] = await readiness(service);
    expect(status).toBe(503);
    expect(body.reason).toContain('`npm run db:migrate` creates it');
    const refused = await fetch(`${service.url}/graphql`, { method: 'POST' });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('Retry-After')).toBe('2');

    await migrate({ ownerUrl, authUrl }, createLog('silent'));
    await until(async () => (await readiness(service))[0] === 200);

    await service.stop();
    await asAdministrator(`drop database empty_${suffix}`);
    await asAdministrator(`drop role later_${suffix}`);
  });
});

type Answer = { status: string; reason?: string; notice?: string };

async function readiness(service: TestService): Promise<[number, Answer]> {
  const response = await fetch(`${service.url}/readyz`);
  return [response.status, (await response.json()) as Answer];
}

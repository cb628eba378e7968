import { readFile } from 'node:fs/promises';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { createCopy } from '../development/createCopy.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { withLogin } from '../support/logins.ts';
import { startTestService, testSecretKey } from '../support/service.ts';
import { type OlderPostgres, startOlderPostgres } from './support/olderPostgres.ts';
import { binariesOf, majors } from './support/postgresMajors.ts';
import { query } from './support/query.ts';

// Owners of the database with few and with many rights: PostgreSQL 16 has changed which roles may grant others.

const log = createLog('error');

describe.each(majors)('on PostgreSQL %i', (major) => {
  let dataDir: string;
  let postgres: OlderPostgres;
  let urls: { ownerUrl: string; authUrl: string };
  const administer = async (...statements: string[]) => {
    for (const statement of statements) await query(urlOf('postgres', 'postgres'), statement);
  };
  const urlOf = (user: string, database = 'graph') =>
    `postgres://${user}:of-the-test@127.0.0.1:${postgres.port}/${database}`;

  beforeEach(async () => {
    dataDir = await createTestDataDirectory();
    postgres = await startOlderPostgres(dataDir, 'of-the-test', await binariesOf(major, dataDir));
    urls = { ownerUrl: urlOf('graph_owner'), authUrl: urlOf('graph_authenticator') };
    await administer("create role graph_owner login password 'of-the-test'", 'create database graph owner graph_owner');
  }, 120_000);
  afterEach(async () => {
    await postgres.stop();
    await removeTestDataDirectory(dataDir);
  });

  test('an owner without CREATEROLE goes on with the roles of the guide', async () => {
    const [{ version } = { version: '' }] = await query<{ version: string }>(
      urls.ownerUrl,
      `select current_setting('server_version') as version`,
    );
    expect(version).toMatch(new RegExp(`^${major}\\.`));
    await administer(...(await rolesOfGuide()));

    await migrate(urls, log);
    await migrate(urls, log);

    await expectToServe(urls);
  }, 60_000);

  test('an owner without CREATEROLE reads which statements are missing, and continues after them', async () => {
    const message = await migrate(urls, log).catch((error: Error) => error.message);

    const statements = String(message).split('\n').slice(1, -1);
    expect(statements.filter((statement) => statement.includes('create role'))).toHaveLength(10);
    expect(await query(urls.ownerUrl, `select from pg_roles where rolname = 'graph_app'`)).toEqual([]);
    expect(
      await query(urls.ownerUrl, `select from pg_namespace where nspname in ('app_public', 'graphile_migrate')`),
    ).toEqual([]);
    await administer(...statements.map((statement) => statement.replace("'…'", "'of-the-test'")));
    await migrate(urls, log);
    await expectToServe(urls);
  }, 60_000);

  test('an owner with CREATEROLE needs nothing else', async () => {
    await administer('alter role graph_owner createrole');

    await migrate(urls, log);
    await migrate({ ...urls, oauthUrl: urlOf('graph_oauth_authenticator') }, log);

    await expectToServe({ ...urls, oauthUrl: urlOf('graph_oauth_authenticator') });
  }, 60_000);

  test('a second owner in the cluster needs memberships in the roles that the first has made, since PostgreSQL 16', async () => {
    await administer('alter role graph_owner createrole');
    await migrate(urls, log);
    await administer(
      "create role second_owner login createrole password 'of-the-test'",
      'create database second owner second_owner',
    );
    const second = { ownerUrl: urlOf('second_owner', 'second'), authUrl: urlOf('second_authenticator', 'second') };

    if (major >= 16) {
      const message = await migrate(second, log).catch((error: Error) => error.message);
      const statements = String(message).split('\n').slice(1, -1);
      expect(statements).toHaveLength(4);
      expect(statements[1]).toContain('grant graph_admin, graph_helper, graph_purger to "second_owner"');
      await administer(...statements.map((statement) => statement.replace("'…'", "'of-the-test'")));
    }
    await migrate(second, log);

    expect(await query(second.ownerUrl, 'select from app_public.users')).toEqual([]);
    await withLogin(second.authUrl, (client) => client.query('set role graph_app; select from app_public.users'));
  }, 60_000);

  test('a login that inherits what it may become is refused, and accepted when it does not', async () => {
    await administer(...(await rolesOfGuide()));
    await administer(
      major >= 16
        ? 'grant graph_user to graph_authenticator with inherit true'
        : 'alter role graph_authenticator inherit',
    );

    const message = await migrate(urls, log).catch((error: Error) => error.message);

    const statements = String(message).split('\n').slice(1, -1);
    expect(statements).toHaveLength(1);
    expect(await query(urls.ownerUrl, `select from pg_namespace where nspname = 'app_public'`)).toEqual([]);
    await administer(...statements.map((statement) => statement.replace("'…'", "'of-the-test'")));
    await migrate(urls, log);
    await expectToServe(urls);
  }, 60_000);

  test('a commit that needs an extension of a superuser names the second database, and the way', async () => {
    await administer('alter role graph_owner createrole createdb');
    await migrate(urls, log);
    const copy = await createCopy();
    try {
      const environment = { DATABASE_URL: urls.ownerUrl, AUTH_DATABASE_URL: urls.authUrl, SECRET_KEY: testSecretKey };
      for (const extension of ['pg_stat_statements', 'dblink']) {
        await query(urlOf('postgres'), `create extension ${extension}`);
        await copy.save(`create extension if not exists ${extension} with schema public;\n`);

        const refused = await copy.run(['commit', extension], environment);
        expect(refused).toMatchObject({ code: 1, output: expect.stringMatching(/^Nothing is committed\.\n/) });
        expect(refused.output).toContain(`permission denied to create extension "${extension}" (SQLSTATE 42501)`);
        expect(refused.output).toMatch(/This was in "gqs_shadow_[0-9a-f]{16}", which is made from template1 /);

        await query(urlOf('postgres', 'template1'), `create extension ${extension}`);
        expect(await copy.run(['commit', extension], environment)).toMatchObject({ code: 0 });
      }
      await query(urlOf('postgres', 'template1'), 'drop extension dblink');
      const { code, output } = await copy.run(['schema'], environment);
      expect(code).toBe(1);
      expect(output).toMatch(/dblink.*\nThis was in "gqs_shadow_[0-9a-f]{16}", which is made from template1 /);
      const shadows = `select datname from pg_database where datname ~ '^gqs_'`;
      expect(await query(urlOf('postgres'), shadows)).toEqual([]);
    } finally {
      await copy.remove();
    }
  }, 120_000);

  test('a role that does not own the database may migrate it, too', async () => {
    await administer(...(await rolesOfGuide()), 'alter database graph owner to postgres');
    await expect(migrate(urls, log)).rejects.toThrow('grant create on database graph to graph_owner;');

    await administer('grant create on database graph to graph_owner');
    await migrate(urls, log);
    await query(urlOf('postgres'), 'grant connect on database graph to graph_owner, graph_authenticator');
    await query(urlOf('postgres'), 'revoke connect on database graph from public');
    await migrate(urls, log);

    await expectToServe(urls);
  }, 60_000);
});

/** The statements for an administrator that docs/operating.md shows. */
async function rolesOfGuide(): Promise<string[]> {
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const section = guide.split(/^##+ /m).find((text) => text.startsWith('Roles\n'));
  const statements = /^```sql\n([\s\S]*?)^```$/m.exec(section ?? '')?.[1]?.replaceAll('…', 'of-the-test') ?? '';
  return statements.split(/;\s*/).filter(Boolean);
}

/** Asks the questions for which an owner needs rights that a superuser has anyway. */
async function expectToAnswer(ownerUrl: string): Promise<void> {
  await query(ownerUrl, `insert into app_hidden.organizations (name) values ('Acme')`);
  await query(
    ownerUrl,
    `insert into app_public.units (organization_id, name) select id, 'Hall' from app_hidden.organizations`,
  );
  await query(
    ownerUrl,
    `insert into oauth.applications (organization_id, name, client_id, scopes) select id, 'Acme', 'acme', '{app}' from app_hidden.organizations`,
  );
  const [before] = await query<{ now: string }>(ownerUrl, 'select clock_timestamp()::text as now');
  await query(ownerUrl, `select audit.record_reads('app_public.units')`);
  await query(ownerUrl, `delete from app_public.units`);

  const visibleAt = (at: string) =>
    query(
      ownerUrl,
      `select value ->> 'name' as name from audit.visible_at('app:acme', ${at}) where relation = 'app_public.units'::regclass`,
    );
  expect(await visibleAt(`'${before?.now}'`)).toEqual([{ name: 'Hall' }]);
  expect(await visibleAt('now()')).toEqual([]);
  const readers = `select w.principal, w.command from audit.changes c, audit.who_could('app_public.units', c.row_id::text, '${before?.now}') w
    where c.relation = 'app_public.units' and c.command = 'delete'`;
  expect(await query(ownerUrl, readers)).toEqual([
    { principal: 'app:acme', command: 'select' },
    { principal: 'app:acme', command: 'update' },
    { principal: 'app:acme', command: 'delete' },
  ]);
  expect(
    (await query(ownerUrl, `select * from audit.unused(current_date) where role = 'graph_app'`)).length,
  ).toBeGreaterThan(50);
  expect(await query(ownerUrl, 'select * from audit.findings')).toEqual([]);
}

async function expectToServe(urls: { ownerUrl: string; authUrl: string; oauthUrl?: string }): Promise<void> {
  expect(await query(urls.ownerUrl, 'select * from audit.findings')).toEqual([]);
  await withLogin(urls.authUrl, async (client) => {
    await expect(client.query('select from app_public.users')).rejects.toMatchObject({ code: '42501' });
    await client.query('set role graph_app');
    await client.query('select from app_public.users');
  });
  const service = await startTestService(urls, urls.oauthUrl ? { OAUTH_DATABASE_URL: urls.oauthUrl } : {});
  expect(await (await fetch(`${service.url}/readyz`)).text()).not.toContain('reason');
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
  await service.stop();
  await expectToAnswer(urls.ownerUrl);
}

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { readDatabaseObjects } from '../../src/commands/development/databaseObjects.ts';
import { sessionSettings, toDriverUrl, toLibpqUrl } from '../../src/connectionUrl.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { withClient } from '../../src/database/pool/withClient.ts';
import { createLog } from '../../src/log.ts';
import { tableSql } from '../generation/tables.ts';
import { ask, createTenant, read, type Tenant } from '../graphql/support.ts';
import { syncUnits } from '../graphql/sync.ts';
import { createApplication, expectTokens, type OauthTest, token } from '../oauth/support.ts';
import { asAdministrator, createTestDatabase, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { createMigrationsCopy } from '../support/migrationsCopy.ts';
import { startTestService, type TestService, unthrottled } from '../support/service.ts';

// A database, a role or a shell may have settings that change what a statement means: the service sets what it relies on.

/** For each setting, another value that PostgreSQL accepts. */
const otherValues = {
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Asia/Kolkata',
  bytea_output: 'escape',
  extra_float_digits: '-5',
  xmlbinary: 'hex',
  xmloption: 'document',
  lc_monetary: 'C.UTF-8',
  lc_numeric: 'C.UTF-8',
  lc_time: 'C.UTF-8',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  search_path: 'app_hidden, pg_catalog',
  row_security: 'off',
  gin_fuzzy_search_limit: '1',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
} satisfies Record<keyof typeof sessionSettings, string>;

const quoted = (value: string) => (value.includes(', ') ? value : `'${value}'`);

/** Of the database, and of the role in it, which outranks that. */
async function setOthers(database: TestDatabase): Promise<void> {
  const name = new URL(database.ownerUrl).pathname.slice(1);
  const role = new URL(database.authUrl).username;
  for (const [setting, value] of Object.entries(otherValues)) {
    await asAdministrator(`alter database ${name} set ${setting} = ${quoted(value)}`);
    await asAdministrator(`alter role ${role} in database ${name} set ${setting} = ${quoted(value)}`);
  }
}

const eventsTable = tableSql({
  name: 'events',
  columns: `id uuid not null default app_hidden.uuid_v7(), name text not null check (name <> E'\\\\'), on_day date, lasts interval,
    at timestamptz, bytes bytea, share float8`,
  key: ['id'],
  indexes: ['on_day'],
});

describe('in a database and as a role with other settings', () => {
  let database: TestDatabase;
  let service: TestService & OauthTest;
  let tenant: Tenant;
  beforeAll(async () => {
    database = await createTestDatabase();
    tenant = await createTenant({ database });
    await database.owner.query(eventsTable);
    await database.owner.query(
      `insert into app_public.events (organization_id, name, on_day, lasts, at, bytes, share)
       select $1, 'n' || n, date '2026-01-31' + n * 7, make_interval(days => n, hours => 5), timestamptz '2026-01-02 03:04:05Z', '\\x00ff5c', 0.1::float8 + 0.2::float8
       from generate_series(1, 5) as n`,
      [tenant.organizationId],
    );
    await setOthers(database);
    service = {
      ...(await startTestService({ ...database, authUrl: toLibpqUrl(database.authUrl) }, unthrottled)),
      database,
      organizationId: tenant.organizationId,
    };
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  test('a session of others has these, and none is forgotten', async () => {
    const client = new Client({ connectionString: toLibpqUrl(database.authUrl) });
    await client.connect();
    const { rows } = await client.query<{ name: keyof typeof sessionSettings; setting: string }>(
      'select name, setting from pg_settings where name = any ($1)',
      [Object.keys(sessionSettings)],
    );
    await client.end();

    expect(rows).toHaveLength(Object.keys(sessionSettings).length);
    for (const { name, setting } of rows) expect({ [name]: setting }).not.toEqual({ [name]: sessionSettings[name] });
  });

  test('the service is ready, and an application gets a token and writes', async () => {
    const application = await createApplicationBeside(service);
    expectTokens(
      await token(service, {
        form: { grant_type: 'client_credentials' },
        basic: { id: application.clientId, secret: application.secret },
      }),
      'app',
    );
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);

    const created = await ask(
      service,
      tenant.app,
      String.raw`mutation { unitCreate(name: "a\\b'c", externalIdentifier: "x") { unit { name } } }`,
    );
    expect(created.body).toEqual({ data: { unitCreate: { unit: { name: "a\\b'c" } } } });
    const synced = await syncUnits(service, tenant, [{ externalIdentifier: 'x', name: 'New' }]);
    expect(synced).toMatchObject([{ outcome: 'UPDATED' }]);
  });

  test.each(['ON_DAY_ASC', 'ON_DAY_DESC'])(
    'pages in the order %s lead from the first row to the last',
    async (order) => {
      const names: string[] = [];
      for (let after: string | null = null, page = 0; page < 10; page++) {
        const { app } = (await read(
          service,
          tenant.app,
          `query ($after: Cursor) { app { events(first: 2, after: $after, orderBy: [${order}]) { nodes { name } pageInfo { endCursor hasNextPage } } } }`,
          { after },
        )) as { app: { events: { nodes: { name: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } } };
        names.push(...app.events.nodes.map(({ name }) => name));
        after = app.events.pageInfo.endCursor;
        if (!app.events.pageInfo.hasNextPage) break;
      }

      const expected = ['n1', 'n2', 'n3', 'n4', 'n5'];
      expect(names).toEqual(order === 'ON_DAY_DESC' ? expected.toReversed() : expected);
    },
  );

  test('values are written as ever', async () => {
    const { app } = (await read(
      service,
      tenant.app,
      '{ app { events(first: 1) { nodes { onDay lasts { days hours } at bytes share } } } }',
    )) as { app: { events: { nodes: unknown[] } } };

    expect(app.events.nodes).toEqual([
      {
        onDay: '2026-02-07',
        lasts: { days: 1, hours: 5 },
        at: expect.stringMatching(/^2026-01-02T03:04:05(\.0+)?(Z|\+00:?00)$/),
        bytes: Buffer.from([0x00, 0xff, 0x5c]).toString('base64'),
        share: 0.30000000000000004,
      },
    ]);
  });
});

test('docs/operating.md has each setting', async () => {
  const page = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const missing = Object.keys(sessionSettings).filter((name) => !page.includes(`\`${name}\``));

  expect(missing).toEqual([]);
});

describe('migrations', () => {
  test('give the same objects in such a database as in another', async () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await asAdministrator(`create database ${name} template template0`);
    const database = openTestDatabase(name);
    try {
      await setOthers(database);
      await migrate(
        { ownerUrl: toDriverUrl(database.ownerUrl), authUrl: toDriverUrl(database.authUrl) },
        createLog('silent'),
      );
      const ordinary = await createTestDatabase();
      const [found = new Map(), expected] = await Promise.all(
        [database.ownerUrl, ordinary.ownerUrl].map((url) => withClient(toDriverUrl(url), readDatabaseObjects)),
      );
      await ordinary.drop();

      expect(found).toEqual(expected);
      expect([...found.values()].join('\n').split('\n').length).toBeGreaterThan(500);
    } finally {
      await database.drop();
    }
  }, 60_000);

  test('begin with the same settings each, whichever ran before in this session', async () => {
    const copy = await createMigrationsCopy();
    const database = await createTestDatabase();
    try {
      await copy.commit(
        'set much',
        `set search_path = app_hidden, public; set row_security = off; create temp table mood (n int);`,
      );
      await copy.commit(
        'rely on little',
        `create type mood as enum ('fine'); create table public.of_owner (mood mood);`,
      );

      await copy.migrate({ ownerUrl: toDriverUrl(database.ownerUrl), authUrl: database.authUrl }, createLog('silent'));

      const { rows } = await database.owner.query(
        `select typnamespace::regnamespace::text as schema, pg_get_userbyid(typowner) = current_user as "isOwners" from pg_type where typname = 'mood' and typtype = 'e'`,
      );
      expect(rows).toEqual([{ schema: 'public', isOwners: true }]);
    } finally {
      await database.drop();
      await copy.remove();
    }
  });
});

describe("a shell's variables of libpq", () => {
  const url = 'postgres://a:b@h/d';
  const parametersOf = (text: string) => Object.fromEntries(new URL(text).searchParams);

  test.each([
    ['PGSSLMODE', 'require', { sslmode: 'require' }],
    ['PGOPTIONS', '-c work_mem=1MB', { options: expect.stringMatching(/^-c work_mem=1MB -c DateStyle/) }],
    ['PGSSLROOTCERT', 'system', { sslmode: 'verify-full' }],
    ['PGSSLMODE', 'prefer', {}],
    ['PGTZ', 'Asia/Kolkata', {}],
  ])('%s=%s counts as in libpq where the URL says nothing', (variable, value, expected) => {
    expect(parametersOf(toDriverUrl(url, { [variable]: value }))).toMatchObject(expected);
    expect(parametersOf(toDriverUrl(`${url}?sslmode=disable&options=-c%20a%3Db`, { [variable]: value }))).toMatchObject(
      {
        ...(variable === 'PGSSLROOTCERT' ? {} : { sslmode: 'disable' }),
        options: expect.stringMatching(/^-c a=b -c DateStyle/),
      },
    );
  });

  test("an owner's URL is printed as it was given", () => {
    for (const given of [url, `${url}?host=%2Ftmp`, `${url}?sslmode=require&options=-c%20a%3Db`])
      expect(toLibpqUrl(toDriverUrl(given))).toBe(given);
  });
});

/** An application of a database whose owner's sessions may write nothing by themselves. */
async function createApplicationBeside(service: OauthTest) {
  const { pathname } = new URL(service.database.ownerUrl);
  const writing = openTestDatabase(pathname.slice(1));
  const application = await createApplication({ ...service, database: writing });
  await writing.owner.end();
  return application;
}

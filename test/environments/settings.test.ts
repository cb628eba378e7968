import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { readDatabaseObjects } from '../../src/commands/development/databaseObjects.ts';
import { problemOfConnectionUrl, sessionSettings, toDriverUrl, toLibpqUrl } from '../../src/connectionUrl.ts';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { createLog } from '../../src/log.ts';
import { tableSql } from '../generation/tables.ts';
import { createTenant, read, type Tenant } from '../graphql/support.ts';
import type { OauthTest } from '../oauth/support.ts';
import { asAdministrator, createTestDatabase, openTestDatabase, type TestDatabase } from '../support/database.ts';
import { createMigrationsCopy } from '../support/migrationsCopy.ts';
import { startProcess } from '../support/process.ts';
import { startTestService, type TestService, unthrottled } from '../support/service.ts';
import { otherValues } from './otherValues.ts';

// A database, a role or a shell may have settings that change what a statement means: the service sets what it relies on.

/** Of the database, and of the role in it, which outranks that. */
async function setOthers(database: TestDatabase): Promise<void> {
  const name = new URL(database.ownerUrl).pathname.slice(1);
  const role = new URL(database.authUrl).username;
  for (const [setting, value] of Object.entries(otherValues)) {
    await asAdministrator(`alter database ${name} set ${setting} = ${value}`);
    await asAdministrator(`alter role ${role} in database ${name} set ${setting} = ${value}`);
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

  test.each(['prefer', 'allow', 'disable'])('PGSSLMODE=%s leaves a server without TLS as it is', async (PGSSLMODE) => {
    const database = await createTestDatabase();
    const urls = { DATABASE_URL: database.ownerUrl, AUTH_DATABASE_URL: database.authUrl };
    const { exited, output } = startProcess(['migrate'], { PATH: process.env.PATH ?? '', PGSSLMODE, ...urls });
    const { code } = await exited;
    await database.drop();

    expect({ code, ...output }).toEqual({ code: 0, stdout: expect.stringContaining('every migration'), stderr: '' });
  });

  test("an owner's URL is printed as it was given", () => {
    for (const given of [url, `${url}?host=%2Ftmp`, `${url}?sslmode=require&options=-c%20a%3Db`])
      expect(toLibpqUrl(toDriverUrl(given))).toBe(given);
  });
});

describe("a database's name in a URL", () => {
  test.each(['a/b', 'a:b@c', 'a&b=c+d$e,f;g', 'a%2Fb', 'ä "b" c', "a'b\\c"])('may be %s', (name) => {
    const url = toDriverUrl(`postgres://a:b@h/${encodeURIComponent(name)}?application_name=a%2Fb`);

    expect(new Client({ connectionString: url }).database).toBe(name);
  });

  test.each(['a?b', 'a#b'])('%s is refused, since the driver cannot reach it', (name) => {
    expect(problemOfConnectionUrl(`postgres://a:b@h/${encodeURIComponent(name)}`, {})).toMatch(/database with \? or #/);
    expect(problemOfConnectionUrl('postgres://a:b%3F%23@h/ab?application_name=a%23b', {})).toBeNull();
  });
});

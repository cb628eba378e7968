import { randomUUID } from 'node:crypto';
import { Client, type Pool } from 'pg';
import { readAhead, readCommitted } from '../../src/database/migrations/committedMigrations.ts';
import { migrate, migrationsAreCurrent } from '../../src/database/migrations/migrate.ts';
import { migrationProgress } from '../../src/database/migrations/runCommitted.ts';
import { createOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { asLogin, inDatabase } from '../support/logins.ts';
import { startProcess } from '../support/process.ts';

const log = createLog('silent');

describe('migrating', () => {
  const suffix = randomUUID().slice(0, 8);
  const names = { authenticator: `Auth"enti cator_${suffix}` };
  let database: TestDatabase;
  let urls: { ownerUrl: string; authUrl: string };

  beforeAll(async () => {
    database = await createTestDatabase();
    urls = {
      ownerUrl: database.ownerUrl,
      authUrl: asLogin(database.authUrl, names.authenticator, "pass'word \\ %"),
    };
    await migrate(urls, log);
  });

  afterAll(async () => {
    await database.owner.query(`drop owned by ${quoted(names.authenticator)}`);
    await database.drop();
    await asAdministrator(`drop role ${quoted(names.authenticator)}`);
  });

  it('creates the authenticator, which can log in and is nothing by itself', async () => {
    const pool = createOwnerPool(urls.authUrl, log);
    const { rows } = await pool.query(
      `select rolcanlogin, rolinherit, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls
         from pg_roles where rolname = current_user`,
    );
    const refused = pool.query('select from app_public.users');
    await expect(refused).rejects.toMatchObject({ code: '42501' });
    await pool.end();

    expect(rows).toEqual([
      {
        rolcanlogin: true,
        rolinherit: false,
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
        rolbypassrls: false,
      },
    ]);
  });

  it('lets it become each request role and no other', async () => {
    const { rows } = await database.owner.query(
      `select r.rolname::text as role, m.inherit_option, m.set_option, m.admin_option
         from pg_auth_members m join pg_roles r on r.oid = m.roleid
         where m.member = (select oid from pg_roles where rolname = $1) order by 1`,
      [names.authenticator],
    );

    expect(rows).toEqual(
      ['graph_app', 'graph_basic', 'graph_oauth', 'graph_user', 'graph_worker'].map((role) => ({
        role,
        inherit_option: false,
        set_option: true,
        admin_option: false,
      })),
    );
  });

  it('changes nothing the second time, save the password', async () => {
    const applied = () => database.owner.query('select * from graphile_migrate.migrations order by filename');
    const before = await applied();
    const authUrl = asLogin(urls.authUrl, names.authenticator, 'another');

    await migrate({ ...urls, authUrl }, log);

    expect((await applied()).rows).toEqual(before.rows);
    await expect(canConnect(authUrl)).resolves.toBe(true);
    await expect(canConnect(urls.authUrl)).resolves.toBe(false);
    await migrate(urls, log);
  });

  it('keeps the password of a login that serves another database of the cluster, too', async () => {
    const second = await createTestDatabase();
    const { ownerUrl } = second;
    const name = new URL(ownerUrl).pathname.slice(1);
    try {
      const wrong = asLogin(inDatabase(urls.authUrl, name), names.authenticator, 'another');
      await expect(migrate({ ownerUrl, authUrl: wrong }, log)).rejects.toThrow(
        /has another password than the one in AUTH_DATABASE_URL, and serves "test_\w+", too; nothing was changed/,
      );
      await expect(canConnect(urls.authUrl)).resolves.toBe(true);

      await migrate({ ownerUrl, authUrl: inDatabase(urls.authUrl, name) }, log);
      await expect(canConnect(urls.authUrl)).resolves.toBe(true);
      await expect(canConnect(inDatabase(urls.authUrl, name))).resolves.toBe(true);
    } finally {
      await second.drop();
    }
  });

  // RFC 4013: what PostgreSQL and libpq do with each, PostgreSQL itself says.
  it.each([
    ['a space beyond ASCII', 'pass\u00a0word'],
    ['an ideographic space', 'pass\u3000word'],
    ['a soft hyphen', 'pass\u00adword'],
    ['a zero width joiner', 'pass\u200dword'],
    ['a zero width space', 'pass\u200bword'],
    ['a variation selector', 'pass\ufe0fword'],
    ['a ligature', 'pass\ufb01word'],
    ['a letter and its accent', 'passwo\u0301rd'],
    ['a Roman numeral', '\u2168 lives'],
    ['a letter beyond the BMP', '\ud835\udc00lpha'],
    ['half-width katakana', '\uff76\uff9e'],
    ['quotes and a backslash', `'"\\ $`],
    ['a character that is prohibited', 'pass\u0007word'],
  ])('takes a password with %s, whoever has set it', async (_, password) => {
    const role = `prepared_${randomUUID().slice(0, 8)}`;
    const authUrl = asLogin(database.authUrl, role, password);
    try {
      // Ours.
      await migrate({ ownerUrl: database.ownerUrl, authUrl }, log);
      await expect(canConnect(authUrl)).resolves.toBe(true);

      // PostgreSQL's: works, and stays as it is.
      await asAdministrator(`alter role ${role} password '${password.replaceAll("'", "''")}'`);
      const verifier = () => database.owner.query('select rolpassword from pg_authid where rolname = $1', [role]);
      const before = (await verifier()).rows;
      await migrate({ ownerUrl: database.ownerUrl, authUrl }, log);
      expect((await verifier()).rows).toEqual(before);
      await expect(canConnect(authUrl)).resolves.toBe(true);
    } finally {
      await database.owner.query(`drop owned by ${role}`);
      await asAdministrator(`drop role ${role}`);
    }
  });

  it('waits for others who migrate the same database, and tells how many migrations have run', async () => {
    const name = `empty_${suffix}`;
    await asAdministrator(`create database ${name} template template0`);
    const ownerUrl = inDatabase(database.ownerUrl, name);
    const told: unknown[] = [];
    const listen = (progress: unknown) => told.push(progress);
    migrationProgress.subscribe(listen);

    const all = await Promise.allSettled([1, 2, 3, 4].map(() => migrate({ ...urls, ownerUrl }, log)));

    migrationProgress.unsubscribe(listen);
    expect(all.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
    const total = (await readCommitted()).length;
    expect(told).toEqual(Array.from({ length: total }, (_, at) => ({ done: at + 1, total })));
    await asAdministrator(`drop database ${name}`);
  });

  it('refuses an authenticator that passes by row-level security', async () => {
    const bypassing = `bypassing_${suffix}`;
    await asAdministrator(`create role ${bypassing} login bypassrls`);

    const refused = migrate({ ...urls, authUrl: asLogin(urls.authUrl, bypassing, 'x') }, log);

    await expect(refused).rejects.toThrow('row-level security');
    await asAdministrator(`drop role ${bypassing}`);
  });

  it('says what a newer version has run, and nothing when the files are the newer ones', async () => {
    const newer = 'insert into graphile_migrate.migrations (hash, filename) values ($1, $1)';
    const printed = async () => {
      const { ownerUrl, authUrl } = urls;
      const { exited, output } = startProcess(['migrate'], {
        PATH: process.env.PATH ?? '',
        DATABASE_URL: ownerUrl,
        AUTH_DATABASE_URL: authUrl,
      });
      return { ...(await exited), stdout: output.stdout };
    };
    expect(await readAhead(database.owner)).toBeNull();

    for (const name of ['999999.sql', '999998.sql']) await database.owner.query(newer, [name]);

    expect(await printed()).toEqual({
      code: 0,
      signal: null,
      stdout: 'The database has every migration of this version, and 999998.sql, 999999.sql of a newer one.\n',
    });
    await database.owner.query(`delete from graphile_migrate.migrations where filename ~ '^99'`);
    expect(await printed()).toMatchObject({ code: 0, stdout: 'The database has every migration.\n' });
  });

  it('tells the authenticator whether the database is behind', async () => {
    const pool: Pool = createOwnerPool(urls.authUrl, log);
    const newest = 'select max(filename) from graphile_migrate.migrations';
    expect(await migrationsAreCurrent(pool)).toBe(true);

    await database.owner.query(`update graphile_migrate.migrations set hash = 'x' where filename = (${newest})`);

    expect(await migrationsAreCurrent(pool)).toBe(false);
    await pool.end();
  });
});

// Without CREATEROLE: roles.test.ts.
describe('migrating as an owner who is no superuser', () => {
  const suffix = randomUUID().slice(0, 8);
  const [owner, authenticator, name] = [`owner_${suffix}`, `authenticator_${suffix}`, `own_${suffix}`];

  it('needs CREATEROLE and the database, nothing else', async () => {
    await asAdministrator(`create role ${owner} login createrole password 'x'`);
    // The roles exist already, since the template's migrations made them: their maker hands them on.
    for (const role of ['app', 'user', 'basic', 'oauth', 'worker', 'admin', 'helper', 'purger']) {
      await asAdministrator(`grant graph_${role} to ${owner} with admin option`);
    }
    await asAdministrator(`create database ${name} owner ${owner} template template0`);
    const ownerUrl = asLogin(process.env.TEST_OWNER_URL ?? '', owner, 'x', name);
    const authUrl = asLogin(ownerUrl, authenticator, 'y', name);

    await migrate({ ownerUrl, authUrl }, log);

    const pool = createOwnerPool(authUrl, log);
    expect(await migrationsAreCurrent(pool)).toBe(true);
    await pool.end();
    await asAdministrator(`drop database ${name}`);
    await asAdministrator(`drop role ${authenticator}`);
    await asAdministrator(`drop role ${owner}`);
  });
});

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new Client({ connectionString });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

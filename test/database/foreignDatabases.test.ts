// `migrate` refuses a database with foreign schemas, foreign migrations or another encoding, and changes nothing in it.
import { randomUUID } from 'node:crypto';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createOwnerPool } from '../../src/database/pool/pools.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { asLogin, inDatabase } from '../support/logins.ts';
import { createMigrationsCopy } from '../support/migrationsCopy.ts';
import { startProcess } from '../support/process.ts';

const log = createLog('silent');

describe('migrating', () => {
  const suffix = randomUUID().slice(0, 8);
  const authenticator = `authenticator_${suffix}`;
  let database: TestDatabase;
  let urls: { ownerUrl: string; authUrl: string };

  beforeAll(async () => {
    database = await createTestDatabase();
    urls = { ownerUrl: database.ownerUrl, authUrl: asLogin(database.authUrl, authenticator, 'secret') };
    await migrate(urls, log);
  });

  afterAll(async () => {
    await database.drop();
    await asAdministrator(`drop role ${authenticator}`);
  });

  it('refuses a database that has foreign schemas of our names, and leaves them alone', async () => {
    const schemas = ['app_public', 'audit', 'feed', 'oauth'];
    const name = `others_${suffix}`;
    await asAdministrator(`create database ${name} template template0`);
    const ownerUrl = inDatabase(database.ownerUrl, name);
    const pool = createOwnerPool(ownerUrl, log);
    for (const schema of schemas) {
      await pool.query(`create schema ${schema}`);
      await pool.query(`create table ${schema}.users as select 'theirs' as note`);
    }

    await expect(migrate({ ...urls, ownerUrl }, log)).rejects.toThrow(
      `under ${schemas.join(', ')}; nothing was changed`,
    );
    for (const schema of schemas) {
      expect((await pool.query(`select note from ${schema}.users`)).rows).toEqual([{ note: 'theirs' }]);
      await pool.query(`alter schema ${schema} rename to their_${schema}`);
    }
    const environment = { DATABASE_URL: ownerUrl, AUTH_DATABASE_URL: urls.authUrl, LOG_LEVEL: 'silent' };
    const command = startProcess(['migrate'], { PATH: process.env.PATH ?? '', ...environment });
    expect(await command.exited).toEqual({ code: 0, signal: null });

    for (const schema of schemas)
      expect((await pool.query(`select note from their_${schema}.users`)).rows).toEqual([{ note: 'theirs' }]);
    await pool.end();
    await asAdministrator(`drop database ${name}`);
  });

  it('refuses each schema that the migrations make', async () => {
    const made = await database.owner.query<{ name: string }>(
      `select nspname::text as name from pg_namespace where nspname !~ '^(pg_|information_schema$|public$|graphile_migrate$)' order by 1`,
    );
    const names = made.rows.map(({ name }) => name);
    const name = `all_${suffix}`;
    await asAdministrator(`create database ${name} template template0`);
    const ownerUrl = inDatabase(database.ownerUrl, name);
    const pool = createOwnerPool(ownerUrl, log);
    for (const schema of names) await pool.query(`create schema ${schema}`);

    await expect(migrate({ ...urls, ownerUrl }, log)).rejects.toThrow(
      `what is not of this service under ${names.join(', ')}; nothing was changed`,
    );
    expect(names).toEqual(expect.arrayContaining(['app_hidden', 'app_public', 'audit', 'feed', 'oauth']));
    await pool.end();
    await asAdministrator(`drop database ${name}`);
  });

  it("refuses what a team's migration would drop, until it is renamed", async () => {
    const copy = await createMigrationsCopy();
    const team = await createTestDatabase();
    const pool = team.owner;
    const migrateCopy = () => copy.migrate({ ...urls, ownerUrl: team.ownerUrl }, log);
    await migrateCopy();
    await pool.query(`create schema "Team A"; create table "Team A".users as select 'theirs' as note`);
    await copy.commit('add team', 'drop schema if exists "Team A" cascade;\ncreate schema "Team A";');

    await expect(migrateCopy()).rejects.toThrow('under Team A; nothing was changed');
    expect((await pool.query('select note from "Team A".users')).rows).toEqual([{ note: 'theirs' }]);

    await pool.query('alter schema "Team A" rename to theirs');
    await migrateCopy();
    await migrateCopy();
    expect((await pool.query('select note from theirs.users')).rows).toEqual([{ note: 'theirs' }]);
    await team.drop();
    await copy.remove();
  });

  it('refuses a database in which another project has recorded its migrations', async () => {
    const name = `another_${suffix}`;
    await asAdministrator(`create database ${name} template template0`);
    const ownerUrl = inDatabase(database.ownerUrl, name);
    const pool = createOwnerPool(ownerUrl, log);
    await pool.query(`
      create schema app_public;
      create table app_public.users as select 'theirs' as note;
      create schema graphile_migrate;
      create table graphile_migrate.migrations (
        hash text primary key, previous_hash text, filename text not null, date timestamptz not null default now());
      insert into graphile_migrate.migrations values ('sha1:theirs', null, '000001.sql')`);

    const environment = { DATABASE_URL: ownerUrl, AUTH_DATABASE_URL: urls.authUrl };
    const { exited, output } = startProcess(['migrate'], { PATH: process.env.PATH ?? '', ...environment });

    expect([(await exited).code, output]).toEqual([
      1,
      { stdout: '', stderr: expect.stringContaining('has run another migration under the number of 000001-roles') },
    ]);
    expect((await pool.query('select note from app_public.users')).rows).toEqual([{ note: 'theirs' }]);
    await pool.end();
    await asAdministrator(`drop database ${name}`);
  });

  it.each(['SQL_ASCII', 'LATIN1', 'EUC_JP'])(
    'refuses a database in %s before it changes anything',
    async (encoding) => {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      await asAdministrator(
        `create database ${name} template template0 encoding '${encoding}' locale_provider libc locale 'C'`,
      );

      const refused = migrate({ ...urls, ownerUrl: inDatabase(urls.ownerUrl, name) }, log);

      await expect(refused).rejects.toThrow(`has the encoding ${encoding}, and the service needs UTF8`);
      await asAdministrator(`drop database ${name}`);
    },
  );
});

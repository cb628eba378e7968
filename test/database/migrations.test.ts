import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { catalogue } from '../../src/commands/development/catalogue.ts';
import { isWithoutTransaction } from '../../src/database/migrations/graphileMigrate.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';

const folder = new URL('../../migrations/committed/', import.meta.url);

describe('the committed migrations', () => {
  let once: TestDatabase;
  beforeAll(async () => {
    once = await createTestDatabase();
  });
  afterAll(() => once.drop());

  const connectToEmptyDatabase = async () => {
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    await asAdministrator(`create database ${name} template template0`);
    const url = new URL(once.ownerUrl);
    url.pathname = `/${name}`;
    const client = new Client({ connectionString: url.href });
    await client.connect();
    const drop = async () => {
      await client.end();
      await asAdministrator(`drop database ${name}`);
    };
    return { client, [Symbol.asyncDispose]: drop };
  };

  it('can each be run twice: what they make is made anew', async () => {
    await using database = await connectToEmptyDatabase();
    const { client: twice } = database;
    for (const text of await readMigrations()) {
      await twice.query(text);
      await twice.query(text);
    }

    const [expected, actual] = [await once.owner.query(catalogue), await twice.query(catalogue)];

    expect(actual.rows).toEqual(expected.rows);
    expect(actual.rows.length).toBeGreaterThan(200);
  });

  it('follow the tables that a team has followed as they did', async () => {
    await using database = await connectToEmptyDatabase();
    const { client } = database;
    const migrations = await readMigrations();
    const triggers = async () => {
      const { rows } = await client.query(
        `select pg_get_triggerdef(oid) as definition from pg_trigger where tgrelid = 'app_hidden.türen'::regclass and tgname ~ '^follow_' order by tgname`,
      );
      return rows.map(({ definition }) => definition);
    };
    const follow = (ignored: string) =>
      client.query(`select graph.follow('app_hidden.türen', shown => 'app_public."Türen"', ignored => $1::name[])`, [
        ignored,
      ]);
    for (const text of migrations.slice(0, 54)) await client.query(text);
    await client.query(`
      create table app_hidden.türen (
        organization_id uuid, haus text, nummer int, art text, gesehen int, gelöscht int, updated_at timestamptz, titel text generated always as (haus) stored,
        primary key (organization_id, haus, nummer));
      create view app_public."Türen" as select organization_id, haus, nummer, art from app_hidden.türen;
      comment on view app_public."Türen" is E'@interface mode:single type:art'`);
    await follow('{gesehen, gelöscht}');
    const before = await triggers();
    await client.query('alter table app_hidden.türen drop column gelöscht');

    for (const text of migrations.slice(54)) await client.query(text);
    const migrated = await triggers();
    await client.query(`insert into app_hidden.türen values (gen_random_uuid(), 'Süd', 1, 'Tor')`);
    await client.query(
      `update app_hidden.türen set gesehen = 1; update app_hidden.türen set art = 'Tür'; delete from app_hidden.türen`,
    );
    const { rows } = await client.query('select relation, type, key, operation from graph.changes order by id');
    await follow('{gesehen}');
    const anew = await triggers();

    expect(migrated).toEqual(anew);
    expect(migrated).not.toEqual(before);
    expect(migrated[2]).toContain(`('app_public."Türen"', 'art', '{gesehen,updated_at,titel}', 'haus', 'nummer')`);
    const [relation, key] = ['app_public."Türen"', ['Süd', '1']];
    expect(rows).toEqual([
      { relation, type: 'Tor', key, operation: 'CREATE' },
      { relation, type: 'Tor', key, operation: 'DELETE' },
      { relation, type: 'Tür', key, operation: 'CREATE' },
      { relation, type: 'Tür', key, operation: 'DELETE' },
    ]);
  });
});

async function readMigrations(): Promise<readonly string[]> {
  const files = (await readdir(folder)).sort();
  const migrations = await Promise.all(files.map((file) => readFile(new URL(file, folder), 'utf8')));
  return migrations.map((text) => (isWithoutTransaction(text) ? text : `begin; ${text}; commit`));
}

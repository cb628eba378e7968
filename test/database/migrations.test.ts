import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { readDatabaseObjects } from '../../src/commands/development/databaseObjects.ts';
import { countReleased, readReleases } from '../../src/commands/development/releasedMigrations.ts';
import { brokenOrder, readCommitted, readLints } from '../../src/database/migrations/committedMigrations.ts';
import { isWithoutTransaction } from '../../src/database/migrations/runCommitted.ts';
import { withClient } from '../../src/database/pool/transactions.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { readLaterMigrations } from '../support/laterMigrations.ts';

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

  it('make the same database without the service, and those after the baseline when each is run twice', async () => {
    await using database = await connectToEmptyDatabase();
    const { client: twice } = database;
    for (const { body } of await readCommitted()) await twice.query(inTransaction(body));
    for (const { text } of await readLaterMigrations()) {
      await twice.query(inTransaction(text));
      await twice.query(inTransaction(text));
    }
    for (const { text } of [...(await readLints()), ...(await readLints())]) await twice.query(inTransaction(text));

    const actual = await readDatabaseObjects(twice);

    expect(actual).toEqual(await withClient(once.ownerUrl, readDatabaseObjects));
    expect(actual.size).toBeGreaterThan(150);
  });

  it('are those of each release, unchanged', async () => {
    const files = await readCommitted();
    const broken = brokenOrder(files);
    expect([broken, ...files.filter(({ isIntact }) => !isIntact).map(({ name }) => name)]).toEqual([null]);
    // The hash of a file covers those before it.
    expect(countReleased(files, await readReleases())).toBeLessThanOrEqual(files.length);
  });

  it('make each object once', async () => {
    const definition =
      /^create (?:or replace )?(function|view|table|type|policy|trigger|index|schema) (\S+)(?:.*? on (\S+))?/gm;
    const texts = [...(await readCommitted()).map(({ body }) => body), ...(await readLints()).map(({ text }) => text)];
    const made = texts.flatMap((text) =>
      [...text.matchAll(definition)].map(
        ([, kind, name, table]) => `${kind} ${name?.replace(/[(;].*/, '')} ${table ?? ''}`,
      ),
    );

    expect(made.filter((name, place) => made.indexOf(name) !== place)).toEqual([]);
    expect(made.length).toBeGreaterThan(200);
  });

  it('follow a table whose names need quotes, by the type and the key of its rows', async () => {
    const { owner } = once;
    await owner.query(`
      create table app_hidden.türen (
        organization_id uuid, haus text, nummer int, art text, gesehen int, updated_at timestamptz, titel text generated always as (haus) stored,
        primary key (organization_id, haus, nummer));
      create view app_public."Türen" as select organization_id, haus, nummer, art from app_hidden.türen;
      comment on view app_public."Türen" is E'@interface mode:single type:art';
      select feed.follow('app_hidden.türen', shown => 'app_public."Türen"', ignored => '{gesehen}')`);

    const { rows: triggers } = await owner.query(
      `select pg_get_triggerdef(oid) as definition from pg_trigger where tgrelid = 'app_hidden.türen'::regclass and tgname = 'follow_update'`,
    );
    await owner.query(`insert into app_hidden.türen values (gen_random_uuid(), 'Süd', 1, 'Tor')`);
    await owner.query(
      `update app_hidden.türen set gesehen = 1; update app_hidden.türen set art = 'Tür'; delete from app_hidden.türen`,
    );
    const { rows } = await owner.query('select relation, type, key, operation from feed.changes order by id');

    expect(triggers[0]?.definition).toContain(`('app_public."Türen"', 'art', '1', '{}', 'haus', 'nummer')`);
    const [relation, key] = ['app_public."Türen"', ['Süd', '1']];
    expect(rows).toEqual([
      { relation, type: 'Tor', key, operation: 'CREATE' },
      { relation, type: 'Tor', key, operation: 'DELETE' },
      { relation, type: 'Tür', key, operation: 'CREATE' },
      { relation, type: 'Tür', key, operation: 'DELETE' },
    ]);
  });
});

const inTransaction = (text: string) => (isWithoutTransaction(text) ? text : `begin; ${text}; commit`);

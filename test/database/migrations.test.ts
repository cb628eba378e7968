import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { catalogue } from '../../src/commands/development/catalogue.ts';
import { isWithoutTransaction } from '../../src/database/migrations/graphileMigrate.ts';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';

const folder = new URL('../../migrations/committed/', import.meta.url);

describe('the committed migrations', () => {
  let once: TestDatabase;
  const name = `test_${randomUUID().replaceAll('-', '')}`;

  beforeAll(async () => {
    once = await createTestDatabase();
    await asAdministrator(`create database ${name} template template0`);
  });

  afterAll(async () => {
    await asAdministrator(`drop database ${name}`);
    await once.drop();
  });

  it('can each be run twice: what they make is made anew', async () => {
    const url = new URL(once.ownerUrl);
    url.pathname = `/${name}`;
    const twice = new Client({ connectionString: url.href });
    await twice.connect();
    for (const file of (await readdir(folder)).sort()) {
      const migration = await readFile(new URL(file, folder), 'utf8');
      const text = isWithoutTransaction(migration) ? migration : `begin; ${migration}; commit`;
      await twice.query(text);
      await twice.query(text);
    }

    const [expected, actual] = [await once.owner.query(catalogue), await twice.query(catalogue)];
    await twice.end();

    expect(actual.rows).toEqual(expected.rows);
    expect(actual.rows.length).toBeGreaterThan(200);
  });
});

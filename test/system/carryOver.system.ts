import { migrate, migrationsAreCurrent } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { follow } from './support/operatingGuide.ts';

// By the commands of docs/upgrading.md, on a database that has run the last migration of version 0.x. That its catalogue was the same was
// compared when the migrations were made anew.

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database.drop());

const environment = () => ({ DATABASE_URL: database.ownerUrl });
const carryOver = () => follow('Version 0.x', '', environment());
const migrateAgain = () => migrate(database, createLog('silent'));

const ran = async (hash: string, filename: string) => {
  await database.owner.query('delete from graphile_migrate.migrations');
  await database.owner.query('insert into graphile_migrate.migrations (hash, filename) values ($1, $2)', [
    hash,
    filename,
  ]);
};

test('a database that lacks migrations of 0.x stays as it is', async () => {
  await ran('sha1:a5e4dfde0f5a479eae2a0f25bef2d7d505f2d635', '000001.sql');

  await expect(carryOver()).rejects.toThrow('is not the last one of version 0.x; nothing was changed');
  await expect(migrateAgain()).rejects.toThrow('carry its data over as docs/upgrading.md says');
});

test('one that has run them all is taken for migrated', async () => {
  await ran('sha1:65f156dc99c6b016d0ec228c25baf5af04706450', '000001.sql');
  await database.owner.query(`insert into app_hidden.organizations (name) values ('Acme')`);
  await expect(migrateAgain()).rejects.toThrow('nothing was changed');

  await carryOver();
  await migrateAgain();

  expect(await migrationsAreCurrent(database.owner)).toBe(true);
  expect((await database.owner.query('select name from app_hidden.organizations')).rows).toEqual([{ name: 'Acme' }]);
});

import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { locales } from '../support/locales.ts';
import { expectToPassIn, testsOfTexts } from './support/expectToPassIn.ts';
import { type OlderPostgres, startOlderPostgres } from './support/olderPostgres.ts';
import { binariesOf } from './support/postgresMajors.ts';

// The tests of locales.system.ts, on PostgreSQL 15, which npm installs for the first run.

let dataDir: string;
let postgres: OlderPostgres;
beforeAll(async () => {
  dataDir = await createTestDataDirectory();
  postgres = await startOlderPostgres(dataDir, 'of-the-test', await binariesOf(15, dataDir));
}, 120_000);
afterAll(async () => {
  await postgres.stop();
  await removeTestDataDirectory(dataDir);
});

test.each(locales)(
  'in %s',
  (locale) =>
    expectToPassIn(locale, testsOfTexts, `postgres://postgres:of-the-test@127.0.0.1:${postgres.port}/postgres`),
  3_600_000,
);

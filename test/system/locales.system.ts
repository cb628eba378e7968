import { existsSync } from 'node:fs';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { type Locale, locales } from '../support/locales.ts';
import { olderBinaries, startOlderPostgres } from './support/olderPostgres.ts';
import { passed, runTests } from './support/runTests.ts';

// The tests of e-mail addresses, orders, filters and syncs, over databases of other locales and other providers of locales. `C.UTF-8` of
// PostgreSQL itself, which the demo has, is that of every other test.

// The plans that `orders` looks at are of PostgreSQL 16 and newer.
test.each(locales)(
  'on the embedded PostgreSQL, in %s',
  (locale) => expectToPass(locale, [...files, 'test/graphql/orders']),
  3_600_000,
);

const hasOlder = existsSync(olderBinaries);
if (!hasOlder)
  console.warn(`Not on PostgreSQL 15: there is no ${olderBinaries}. On Debian 12: apt-get install postgresql-15`);

(hasOlder ? describe : describe.skip)('on PostgreSQL 15', () => {
  let dataDir: string;
  let postgres: Awaited<ReturnType<typeof startOlderPostgres>>;
  beforeAll(async () => {
    dataDir = await createTestDataDirectory();
    postgres = await startOlderPostgres(dataDir, 'of-the-test');
  });
  afterAll(async () => {
    await postgres.stop();
    await removeTestDataDirectory(dataDir);
  });

  test.each(locales)(
    'in %s',
    (locale) => expectToPass(locale, files, `postgres://postgres:of-the-test@127.0.0.1:${postgres.port}/postgres`),
    3_600_000,
  );
});

/** What folds case, sorts or compares texts. */
const files = [
  'test/database/timeZones',
  'test/generation/(collations|filters|orders)',
  'test/graphql/(bothWays|cardMutations|everyFilter|filters|paging.test|unitsSync|userCreate|userUpdate|userValues|usersSync)',
  'test/oauth/password.test',
  'test/provisioning/applyDocument',
];

async function expectToPass(locale: Locale, paths: readonly string[], postgresUrl?: string): Promise<void> {
  const environment = { TEST_LOCALE: locale, ...(postgresUrl && { TEST_POSTGRES_URL: postgresUrl }) };

  expect(await runTests(paths, environment)).toEqual(passed);
}

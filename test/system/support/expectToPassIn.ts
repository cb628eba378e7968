import type { Locale } from '../../support/locales.ts';
import { passed, runTests } from './runTests.ts';

/** The tests of e-mail addresses, orders, filters and syncs: what folds case, sorts or compares texts. */
export const testsOfTexts: readonly string[] = [
  'test/database/timeZones',
  'test/generation/(collations|filters|orders)',
  'test/graphql/(app.test|bothWays|cardMutations|everyFilter|filters|paging.test|unitsSync|userCreate|userUpdate|userValues|usersSync)',
  'test/oauth/password.test',
  'test/provisioning/applyDocument',
];

/** Runs these tests with databases of a locale, on the embedded PostgreSQL or another. */
export async function expectToPassIn(locale: Locale, paths: readonly string[], postgresUrl?: string): Promise<void> {
  const environment = { TEST_LOCALE: locale, ...(postgresUrl && { TEST_POSTGRES_URL: postgresUrl }) };

  expect(await runTests(paths, environment)).toEqual(passed);
}

import { randomUUID } from 'node:crypto';
import { migrate } from '../../src/database/migrations/migrate.ts';
import { createLog } from '../../src/log.ts';
import { asAdministrator, openTestDatabase, type TestDatabase } from './database.ts';

/** Locales with which another team may have created its database. `C.UTF-8` comes from the C library before PostgreSQL 17. */
const clauses = {
  C: "locale_provider libc locale 'C'",
  'C.UTF-8': "locale_provider libc locale 'C.UTF-8'",
  'tr-TR': "locale_provider icu icu_locale 'tr-TR' locale 'C'",
  'en-US': "locale_provider icu icu_locale 'en-US' locale 'C'",
};

export type Locale = keyof typeof clauses;
export const locales = Object.keys(clauses) as Locale[];

/** A database of this locale, migrated, on the server of the test run. */
export async function createDatabaseIn(locale: Locale): Promise<TestDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asAdministrator(`create database ${name} template template0 encoding 'UTF8' ${clauses[locale]}`);
  const database = openTestDatabase(name);
  await migrate(database, createLog('error'));
  return database;
}

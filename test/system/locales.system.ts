import { locales } from '../support/locales.ts';
import { expectToPassIn, testsOfTexts } from './support/expectToPassIn.ts';

// Databases of other locales and other providers of locales, on the embedded PostgreSQL. `C.UTF-8` of PostgreSQL itself, which the demo has,
// is that of every other test.

test.each(locales)(
  'in %s',
  // The plans that `orders` looks at are of PostgreSQL 16 and newer.
  (locale) => expectToPassIn(locale, [...testsOfTexts, 'test/graphql/orders']),
  3_600_000,
);

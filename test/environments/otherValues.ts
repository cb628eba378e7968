import type { sessionSettings } from '../../src/connectionUrl.ts';

/** For each setting that the service sets, another value that PostgreSQL accepts, as SQL. */
export const otherValues = {
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: "'Asia/Kolkata'",
  bytea_output: 'escape',
  extra_float_digits: '-5',
  xmlbinary: 'hex',
  xmloption: 'document',
  lc_monetary: "'C.UTF-8'",
  lc_numeric: "'C.UTF-8'",
  lc_time: "'C.UTF-8'",
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  quote_all_identifiers: 'on',
  search_path: 'app_hidden, pg_catalog',
  row_security: 'off',
  gin_fuzzy_search_limit: '1',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  default_transaction_deferrable: 'on',
  statement_timeout: '600000',
  lock_timeout: '600000',
} satisfies Record<keyof typeof sessionSettings, string>;

import { DatabaseError } from 'pg';
import type { Log } from '../../log.ts';
import { isDue } from '../../observability/isDue.ts';
import { DatabaseUnavailable } from './unavailable.ts';

/**
 * Rate-limited log of requests that failed because the database is unavailable or overloaded.
 * The readiness watch logs outages. This logs failures of a database that answers, such as a full disk: once a minute for each SQLSTATE.
 */
export function logUnavailable(log: Log, error: unknown, facts: Readonly<Record<string, unknown>>): void {
  const { code = '' } = error instanceof DatabaseError ? error : {};
  // A move is no failure of the database.
  const isExpected = /^(08|57P|MOVED|$)/.test(code);
  // PostgreSQL's message is the cause of our own error.
  const fields = { ...facts, error: new DatabaseUnavailable({ cause: error }) };
  if (isExpected || !isDue(log, code)) log.debug(fields, 'the database is unavailable');
  else log.error(fields, 'the database fails statements; logged once a minute');
}

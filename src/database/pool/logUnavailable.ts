import { DatabaseError } from 'pg';
import { describeFailure } from '../../errors/explainFailure.ts';
import type { Log } from '../../log.ts';
import { isDue } from '../../observability/isDue.ts';

/**
 * Rate-limited log of requests that failed because the database is unavailable or overloaded.
 * The readiness watch logs outages. This logs failures of a database that answers, such as a full disk: once a minute for each SQLSTATE.
 */
export function logUnavailable(log: Log, error: unknown, facts: Readonly<Record<string, unknown>>): void {
  const { code = '' } = error instanceof DatabaseError ? error : {};
  // A move is no failure of the database.
  const isExpected = /^(08|57P|MOVED|$)/.test(code);
  if (isFullDisk(code)) fullDiskSeenAt.set(log, performance.now());
  if (isExpected || !isDue(log, code)) log.debug({ ...facts, error }, 'the database is unavailable');
  else log.error({ ...facts, cause: describeFailure(error), error }, `${titleOf(code)}; logged once a minute`);
}

const titleOf = (code: string) => (isFullDisk(code) ? "PostgreSQL's disk is full" : 'the database fails statements');

/** For `/readyz`: whether statements have failed on a full disk in the last minute. What only reads is served meanwhile. */
export function fullDiskNotice(log: Log): string | null {
  const isRecent = performance.now() - (fullDiskSeenAt.get(log) ?? Number.NEGATIVE_INFINITY) < 60_000;
  return isRecent ? "PostgreSQL's disk is full, and it does not write. Free space there." : null;
}

const fullDiskSeenAt = new WeakMap<Log, number>();

const isFullDisk = (code: string) => code === '53100';

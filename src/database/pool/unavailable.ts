import { DatabaseError } from 'pg';
import { describeFailure, isConnectionLost } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { isDue } from '../../observability/requestFields.ts';
import { isStalePlan } from '../driver/driver.ts';

/** No connection could be acquired: the database is down, rejects it, or all stayed busy for too long. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';

  constructor(options?: ErrorOptions) {
    super('the database does not answer', options);
  }
}

/** Whether the database is unavailable for now, so that the same request may succeed later. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true;
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // For a Unix-domain socket also ENOENT, when there is no server, and EAGAIN, when too many clients connect at once.
  const isOfConnecting = 'syscall' in error && error.syscall === 'connect';
  return isOfConnecting || unavailableCodes.test(code) || isConnectionLost(error);
}

/**
 * Whether the request may be retried: database unavailable, own statement timed out, a collision, a plan from before a migration, or an
 * organization that is being moved.
 * A timeout of the service's own statement is an overload, since no client could have made that statement smaller.
 */
export function isRetryable(error: unknown): boolean {
  if (isUnavailable(error) || hasMoved(error)) return true;
  const isCancelled = error instanceof DatabaseError && error.code === queryCanceled;
  return isCancelled || isCollision(error) || isStalePlan(error);
}

/** Whether PostgreSQL ended the transaction in favour of another: nothing is left, it may run again. */
export const isCollision = (error: unknown): boolean =>
  error instanceof DatabaseError && collisionCodes.includes(error.code ?? '');

/**
 * SQLSTATE invalid_function_definition, datatype_mismatch: a migration came in between.
 * A function returns a row of its table, which was changed after the statement was planned and before the function had its lock. Planned
 * anew, it fits.
 */
export const isMigratedMeanwhile = (error: unknown): boolean =>
  error instanceof DatabaseError && ['42P13', '42804'].includes(error.code ?? '');

/** Whether the organization of the statement is not served here: it is being moved to another database, or has moved there. */
export const hasMoved = (error: unknown): boolean => error instanceof DatabaseError && error.code === 'MOVED';

/** SQLSTATE read_only_sql_transaction: this server is not, or no longer, the primary. */
export const isReadOnly = (error: unknown): boolean => error instanceof DatabaseError && error.code === '25006';

const queryCanceled = '57014';

/** SQLSTATE: serialization_failure, deadlock_detected, lock_not_available. */
const collisionCodes = ['40001', '40P01', '55P03'];

/** SQLSTATE: connection, read-only, resources, operator intervention other than a cancellation, files of PostgreSQL. */
const unavailableCodes =
  /^(08...|25006|53...|57P0[1-5]|58...|XX00[12]|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/;

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

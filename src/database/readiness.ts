import type { Pool } from 'pg';
import type { Log } from '../log.ts';
import { migrationsAreCurrent } from './migrate.ts';

/** What keeps the database from serving requests, in words for an operator; null when nothing does. Within 3 s. */
export async function whyDatabaseIsNotReady(pool: Pool, log: Log): Promise<string | null> {
  const timeout = AbortSignal.timeout(3000);
  try {
    const current = await Promise.race([migrationsAreCurrent(pool), rejectOn(timeout)]);
    return current ? null : 'Migrations are behind; run `npm run db:migrate`.';
  } catch (error) {
    log.warn({ error }, 'the database is not ready');
    return isRefusedLogin(error)
      ? "The database refuses AUTH_DATABASE_URL's role; `npm run db:migrate` creates it and sets its password."
      : 'The database does not answer.';
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

/** SQLSTATE class 28: the role is unknown, may not log in, or has another password. */
function isRefusedLogin(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && String(cause.code).startsWith('28');
}

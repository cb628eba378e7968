import type { Pool } from 'pg';
import type { Log } from '../log.ts';
import { migrationsAreCurrent } from './migrate.ts';

/**
 * Answers what keeps the database from serving requests, in words for an operator and within 3 s; null when nothing does.
 * A change of the answer is logged.
 */
export function watchDatabase(pool: Pool, log: Log): () => Promise<string | null> {
  let previous: string | null = null;
  let looking: ReturnType<typeof look> | null = null;
  return async () => {
    // However many ask at once, one connection is enough to know.
    looking ??= look(pool).finally(() => {
      looking = null;
    });
    const { reason, error } = await looking;
    if (reason !== previous) {
      if (reason === null) log.info('the database is ready');
      else log.warn({ reason, error }, 'the database is not ready');
    }
    previous = reason;
    return reason;
  };
}

async function look(pool: Pool): Promise<{ reason: string | null; error?: unknown }> {
  const timeout = AbortSignal.timeout(3000);
  try {
    const current = await Promise.race([migrationsAreCurrent(pool), rejectOn(timeout)]);
    return { reason: current ? null : 'Migrations are behind; run `npm run db:migrate`.' };
  } catch (error) {
    return { reason: isRefusedLogin(error) ? refusedLogin : 'The database does not answer.', error };
  }
}

const refusedLogin =
  "The database refuses AUTH_DATABASE_URL's role; `npm run db:migrate` creates it, sets its password and migrates.";

/** SQLSTATE class 28: the role is unknown, may not log in, or has another password. */
function isRefusedLogin(error: unknown): boolean {
  const cause = Error.isError(error) ? error.cause : undefined;
  return Error.isError(cause) && 'code' in cause && String(cause.code).startsWith('28');
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
}

import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../errors/hasCode.ts';

/**
 * Lock timeout with retries.
 * While a migration waits for an ACCESS EXCLUSIVE lock on a table, later readers of that table wait behind it. So it waits briefly, lets
 * them pass, and tries again until its deadline.
 */
export const lockTimeoutMs = 200;
const pauseMs = 500;

/** How long a migration tries to get its locks. */
export const lockDeadlineMs = 60_000;

/** The migration got no lock by its deadline; its last try is rolled back. */
export class LockDeadlineError extends Error {
  override name = 'LockDeadlineError';
}

/**
 * Runs `attempt` until it gets its locks; a failed attempt must leave nothing behind.
 *
 * @param onRefusal runs right before the next try, so that what it frees is still free
 * @throws {LockDeadlineError} when it gets none by the deadline
 */
export async function retryOnLocks<T>(
  attempt: () => Promise<T>,
  deadlineMs: number,
  onRefusal: (tries: number) => Promise<void> = async () => undefined,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      // SQLSTATE lock_not_available, after lock_timeout; deadlock_detected.
      if (!hasCode(error, '55P03', '40P01')) throw error;
      if (performance.now() + pauseMs > deadline) {
        const message = `It had no lock within ${deadlineMs / 1000} s`;
        throw new LockDeadlineError(message, { cause: error });
      }
      await delay(pauseMs);
      await onRefusal(tries);
    }
  }
}

import { StartupError } from '../../errors/errors.ts';
import { helperUrlOf, withHelper } from './helperDatabase.ts';
import { applyCommitted, readCurrent, runCurrent } from './migrations.ts';

/**
 * Recreates the database in which migrations are tried, beside the developer's own, from the committed migrations, and drops it afterwards.
 *
 * @throws {StartupError} when the role may not create databases, or a migration fails
 */
export async function withShadow<T>(
  ownerUrl: string,
  work: (shadow: { url: string; applyCurrent(): Promise<void> }) => Promise<T>,
): Promise<T> {
  const url = helperUrlOf(ownerUrl, 'shadow');
  return withHelper(ownerUrl, url, async () => {
    await applyCommitted(url).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StartupError(`The committed migrations do not run on an empty database: ${reason}`, { cause: error });
    });
    /** Runs `migrations/current.sql` there, too. */
    const applyCurrent = async () => {
      if ((await readCurrent()).trim() !== '') await runCurrent(url);
    };
    return work({ url, applyCurrent });
  });
}

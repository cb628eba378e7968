import { DatabaseError } from 'pg';
import { describeFailure } from '../../errors/errors.ts';
import { applyCommitted, currentFile, readCurrent, runCurrent } from './migrations.ts';
import { locateError, SqlFileError } from './sqlFileError.ts';

/**
 * Runs `migrations/current.sql` on the database, in one transaction, unless it has run this text.
 * Committed migrations that are missing run first.
 *
 * @throws {SqlFileError} with the line, when PostgreSQL rejects a statement; then nothing has changed
 */
export async function applyCurrent(ownerUrl: string): Promise<void> {
  await applyCommitted(ownerUrl).catch((error: unknown) => {
    throw new SqlFileError(`migrations/committed: ${describeFailure(error)}`, { cause: error });
  });
  const text = await readCurrent().catch((error: unknown) => {
    throw new SqlFileError(describeFailure(error), { cause: error });
  });
  try {
    await runCurrent(ownerUrl);
  } catch (error) {
    if (error instanceof DatabaseError) throw await locateError(currentFile, text, error, ownerUrl);
    if (error instanceof SqlFileError) throw error;
    throw new SqlFileError(`${currentFile}: ${describeFailure(error)}`, { cause: error });
  }
}

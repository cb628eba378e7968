import type { Pool } from 'pg';
import type { Config } from '../../config.ts';
import { findMigrationProblem } from '../../database/migrations/migrate.ts';
import { withDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/errors.ts';
import { createPasswords, type Passwords } from '../../oauth/passwords.ts';
import { secretKeys } from '../../service/openConnections.ts';

/** The database and the keys of a command. */
type AdminContext = {
  /** Connections as the owner of the tables. */
  owner: Pool;
  ownerUrl: string;
  /** SECRET_KEY, then SECRET_KEY_PREVIOUS if there is one. */
  keys: readonly [Buffer, ...Buffer[]];
  passwords: Passwords;
};

/** Runs the work of a command and prints its result as JSON. */
export type Run = (work: (context: AdminContext) => Promise<unknown>) => Promise<void>;

/** For a command that reads input: checks the configuration first, and opens the database afterwards. */
export type RunWithInput = <Input>(
  read: () => Promise<Input>,
  work: (context: AdminContext, input: Input) => Promise<unknown>,
) => Promise<void>;

/**
 * Opens the database for a command, whether or not the service runs, and closes it afterwards.
 *
 * @throws {StartupError} when the database is unavailable or lacks migrations
 */
export async function withOwner<T>(config: Config, work: (context: AdminContext) => Promise<T>): Promise<T> {
  const keys = await secretKeys(config);
  return withDatabase(config, async (owner, ownerUrl) => {
    const problem = await findMigrationProblem(owner);
    if (problem !== null) throw new StartupError(problem);
    return work({ owner, ownerUrl, keys, passwords: createPasswords(config.passwordCost) });
  });
}

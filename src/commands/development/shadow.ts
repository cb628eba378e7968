import { withClient } from '../../database/pool/withClient.ts';
import { isForbidden } from '../../database/roles/isForbidden.ts';
import { hasCode } from '../../errors/hasCode.ts';
import { StartupError } from '../../errors/startupError.ts';
import { applyCommitted, databaseName, otherDatabase, readCurrent, runCurrent } from './migrations.ts';

/** The database in which migrations are tried, beside the developer's own: `<name>_shadow`. */
export const shadowUrlOf = (ownerUrl: string) => otherDatabase(ownerUrl, `${databaseName(ownerUrl)}_shadow`);

/**
 * Recreates the shadow database from the committed migrations, and drops it afterwards.
 *
 * @throws {StartupError} when the role may not create databases, or a migration fails
 */
export async function withShadow<T>(ownerUrl: string, work: (shadow: Shadow) => Promise<T>): Promise<T> {
  const url = shadowUrlOf(ownerUrl);
  await asRoot(ownerUrl, `drop database if exists "${databaseName(url)}"`, `create database "${databaseName(url)}"`);
  try {
    await applyCommitted(url).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new StartupError(`The committed migrations do not run on an empty database: ${reason}`, { cause: error });
    });
    const applyCurrent = async () => {
      if ((await readCurrent()).trim() !== '') await runCurrent(url);
    };
    return await work({ url, applyCurrent });
  } finally {
    await asRoot(ownerUrl, `drop database if exists "${databaseName(url)}"`);
  }
}

export type Shadow = {
  url: string;
  /** Runs `migrations/current.sql` there, too. */
  applyCurrent(): Promise<void>;
};

/** Runs statements about whole databases from another database of the same server. */
export async function asRoot(ownerUrl: string, ...statements: string[]): Promise<void> {
  await withClient(otherDatabase(ownerUrl, 'postgres'), async (client) => {
    for (const statement of statements) await client.query(statement);
  }).catch((error: unknown) => {
    throw new StartupError(explain(error), { cause: error });
  });
}

/** SQLSTATE 42501, insufficient privilege, and 55006, object in use. */
function explain(error: unknown): string {
  if (isForbidden(error)) return "DATABASE_URL's role may not create databases; give it CREATEDB.";
  if (hasCode(error, '55006')) return 'Another session uses the database; stop the server and other sessions first.';
  return 'The server refuses to create or drop a database.';
}

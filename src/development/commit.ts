import { commit as commitMigration } from 'graphile-migrate';
import { DatabaseError } from 'pg';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { StartupError } from '../startupError.ts';
import { currentFile, databaseName, readCurrent, withGraphileMigrate } from './migrations.ts';
import { mistakeIn } from './mistake.ts';
import { openDevelopmentDatabase } from './openDevelopmentDatabase.ts';
import { asRoot, shadowUrlOf } from './shadow.ts';

/**
 * `npm run db:commit -- "what it does"`: makes `migrations/current.sql` the next committed migration and empties it. All
 * migrations run on an empty database first, and the new one once more on the developer's own.
 *
 * @throws {StartupError} when one of them fails; nothing is committed then
 */
export async function commit(config: Config, [message]: readonly string[], log: Log): Promise<string[]> {
  if (!message) throw new StartupError('Say what the migration does: npm run db:commit -- "add doors"');
  const database = await openDevelopmentDatabase(config.database, log);
  const { ownerUrl } = database;
  const shadowUrl = shadowUrlOf(ownerUrl);
  const text = await readCurrent();
  try {
    await withGraphileMigrate({ ownerUrl, shadowUrl }, (settings) => commitMigration(settings, message));
    return ['Committed. Next: `npm run schema:update`, then review and commit what has changed.'];
  } catch (error) {
    if (error instanceof DatabaseError) {
      const { message } = await mistakeIn(currentFile, text, error, ownerUrl);
      throw new StartupError(`Nothing is committed.\n${message}`);
    }
    throw new StartupError('Nothing is committed.', { cause: error });
  } finally {
    await asRoot(ownerUrl, `drop database if exists "${databaseName(shadowUrl)}"`);
    await database.close();
  }
}

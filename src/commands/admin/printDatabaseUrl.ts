import type { Config } from '../../config.ts';
import { createDataDirectory } from '../../database/embedded/dataDirectory.ts';
import { findEmbeddedPostgres } from '../../database/embedded/embedded.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { createLog } from '../../log.ts';

/**
 * `admin database-url`: prints the owner's URL, alone on a line.
 * An embedded database that does not run is started for a moment, so that the URL is right when it does.
 */
export async function printDatabaseUrl({ database, logLevel }: Config): Promise<void> {
  const log = createLog(logLevel);
  if (database.kind === 'embedded') {
    await createDataDirectory(database.dataDir);
    if (!(await findEmbeddedPostgres(database.dataDir, log))) {
      process.stderr.write('The embedded database is not running; `npm start` starts it, then this URL works.\n');
    }
  }
  const { ownerUrl, close } = await openDatabase(database, log);
  await close();
  process.stdout.write(`${ownerUrl}\n`);
}

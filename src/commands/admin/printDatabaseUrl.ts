import type { Config } from '../../config.ts';
import { toLibpqUrl } from '../../connectionUrl.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { createLog } from '../../log.ts';

/**
 * `admin database-url`: prints the owner's URL, alone on a line.
 * An embedded database that does not run is started for a moment, so that the URL is the right one.
 */
export async function printDatabaseUrl({ database, logLevel }: Config): Promise<void> {
  const { ownerUrl, wasStarted, close } = await openDatabase(database, createLog(logLevel));
  await close();
  if (wasStarted)
    process.stderr.write('The embedded database is not running; `npm start` starts it, then this URL works.\n');
  process.stdout.write(`${toLibpqUrl(ownerUrl)}\n`);
}

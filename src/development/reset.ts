import { type Config, needed } from '../config.ts';
import { migrate } from '../database/migrate.ts';
import type { Log } from '../log.ts';
import { StartupError } from '../startupError.ts';
import { databaseName } from './migrations.ts';
import { openDevelopmentDatabase } from './openDevelopmentDatabase.ts';
import { asRoot } from './shadow.ts';

/**
 * `npm run db:reset`: drops the database with all that it holds, and makes it anew from the committed migrations. A database
 * of one's own must be named: `npm run db:reset -- --erase NAME`.
 *
 * @throws {StartupError} while somebody is connected
 */
export async function reset(config: Config, args: readonly string[], log: Log): Promise<string[]> {
  const database = await openDevelopmentDatabase(config.database, log);
  try {
    const { ownerUrl, authUrl, oauthUrl, isServed } = database;
    if (isServed) throw new StartupError('The embedded database is in use; stop the server first.');
    const name = databaseName(ownerUrl);
    if (config.database.kind === 'own' && args.join(' ') !== `--erase ${name}`) {
      throw new StartupError(`This drops the database and all that it holds: npm run db:reset -- --erase ${name}`);
    }
    await asRoot(ownerUrl, `drop database if exists ${quoted(name)}`, `create database ${quoted(name)}`);
    await migrate({ ownerUrl, authUrl: needed(authUrl, 'AUTH_DATABASE_URL'), oauthUrl }, log);
    return [`${name} is new; it has every committed migration, and no row.`];
  } finally {
    await database.close();
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

import { type Config, requireSetting } from '../../config.ts';
import { migrate } from '../../database/migrations/migrate.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { helperUrlOf, promoteHelper, withHelper } from './helperDatabase.ts';
import { databaseName, otherDatabase, withMigrationLock } from './migrations.ts';

/**
 * `npm run db:reset`: drops the database, and creates it again from the committed migrations.
 * The new database is made beside the old one, and takes its name when it is complete. So a migration that fails changes nothing, and
 * `npm run dev` sees either the old one or the new. An external database must be named: `npm run db:reset -- --erase NAME`.
 *
 * @throws {StartupError} when a migration fails, or an external database has sessions. Then the database stays
 */
export async function reset(config: Config, { erase }: { erase?: string }, log: Log): Promise<string[]> {
  const isOwn = config.database.kind === 'own';
  if (!isOwn && erase !== undefined)
    throw new StartupError(`--erase ${erase} names a database of your own, and DATABASE_URL is not set.`);
  const database = await openDatabase(config.database, log, { migrates: false });
  try {
    const { ownerUrl, authUrl, oauthUrl } = database;
    const name = databaseName(ownerUrl);
    if (isOwn && erase !== name)
      throw new StartupError(`This drops the database and all that it holds: npm run db:reset -- --erase ${name}`);
    const draftUrl = helperUrlOf(ownerUrl, 'draft');
    const inDraft = (url: string) => otherDatabase(url, databaseName(draftUrl));
    // Once it has the other's name, there is no helper to drop.
    await withHelper(ownerUrl, draftUrl, async () => {
      const urls = { ownerUrl: draftUrl, authUrl: inDraft(requireSetting(authUrl, 'AUTH_DATABASE_URL')) };
      await migrate({ ...urls, oauthUrl: oauthUrl && inDraft(oauthUrl) }, log);
      await replace(ownerUrl, draftUrl, isOwn ? '' : 'with (force)');
    });
    return [`${name} is new; it has every committed migration, and no row.`];
  } finally {
    await database.close();
  }
}

/** Exchanges the databases between two migrations: one that was cut off would end `npm run dev`. */
async function replace(ownerUrl: string, draftUrl: string, force: '' | 'with (force)'): Promise<void> {
  const exchange = () => promoteHelper(ownerUrl, draftUrl, force);
  if (force === '') return exchange();
  await withMigrationLock(ownerUrl, exchange);
}

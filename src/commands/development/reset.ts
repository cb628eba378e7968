import { escapeIdentifier } from 'pg';
import { type Config, requireSetting } from '../../config.ts';
import { migrate } from '../../database/migrations/migrate.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import { StartupError } from '../../errors/startupError.ts';
import type { Log } from '../../log.ts';
import { databaseName, otherDatabase, withMigrationLock } from './migrations.ts';
import { asRoot } from './shadow.ts';

/**
 * `npm run db:reset`: drops the database, and creates it again from the committed migrations.
 * The new database is made beside the old one, and takes its name when it is complete. So a migration that fails changes nothing, and
 * `npm run dev` sees either the old one or the new. An external database must be named: `npm run db:reset -- --erase NAME`.
 *
 * @throws {StartupError} when a migration fails, or an external database has sessions. Then the database stays
 */
export async function reset(config: Config, args: readonly string[], log: Log): Promise<string[]> {
  const database = await openDatabase(config.database, log, { migrates: false });
  try {
    const { ownerUrl, authUrl, oauthUrl } = database;
    const name = databaseName(ownerUrl);
    const isOwn = config.database.kind === 'own';
    if (isOwn && args.join(' ') !== `--erase ${name}`) {
      throw new StartupError(`This drops the database and all that it holds: npm run db:reset -- --erase ${name}`);
    }
    const draft = `${name}_new`;
    const inDraft = (url: string) => otherDatabase(url, draft);
    await asRoot(
      ownerUrl,
      `drop database if exists ${escapeIdentifier(draft)}`,
      `create database ${escapeIdentifier(draft)}`,
    );
    try {
      const urls = { ownerUrl: inDraft(ownerUrl), authUrl: inDraft(requireSetting(authUrl, 'AUTH_DATABASE_URL')) };
      await migrate({ ...urls, oauthUrl: oauthUrl && inDraft(oauthUrl) }, log);
      await replace(ownerUrl, draft, isOwn ? '' : 'with (force)');
    } catch (error) {
      await asRoot(ownerUrl, `drop database if exists ${escapeIdentifier(draft)}`);
      throw error;
    }
    return [`${name} is new; it has every committed migration, and no row.`];
  } finally {
    await database.close();
  }
}

/** Exchanges the databases between two migrations: one that was cut off would end `npm run dev`. */
async function replace(ownerUrl: string, draft: string, force: string): Promise<void> {
  const name = escapeIdentifier(databaseName(ownerUrl));
  const exchange = () =>
    asRoot(
      ownerUrl,
      `drop database if exists ${name} ${force}`,
      `alter database ${escapeIdentifier(draft)} rename to ${name}`,
    );
  if (force === '') return exchange();
  await withMigrationLock(ownerUrl, exchange);
}

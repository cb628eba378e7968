import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { migrationsFolder, readCommitted, readPlainText } from '../../database/migrations/committedMigrations.ts';
import { isWithoutTransaction } from '../../database/migrations/runCommitted.ts';
import { withClient } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { withHelper } from '../development/helperDatabase.ts';
import { otherDatabase } from '../development/migrations.ts';

type Migration = { readonly name: string; readonly sql: string };

/** The committed migrations of a git revision. @throws {StartupError} when there is no such revision, or this is no git clone */
export async function migrationsAt(revision: string): Promise<Migration[]> {
  const git = (...args: string[]) =>
    promisify(execFile)('git', args, { cwd: root, maxBuffer: 100_000_000 }).then(
      ({ stdout }) => stdout,
      (error: unknown) => {
        throw new StartupError(`There is no git revision ${revision} here.`, { cause: error });
      },
    );
  const commit = (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)).trim();
  const names = (await git('ls-tree', '--name-only', commit, 'migrations/committed/')).split('\n');
  const files = names.filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(files.map(async (name) => ({ name, sql: await git('show', `${commit}:${name}`) })));
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The migrations of the working tree, and `current.sql`. */
export async function migrationsHere(): Promise<Migration[]> {
  const committed = await readCommitted();
  const current = await readPlainText(join(migrationsFolder, 'current.sql')).catch(() => '');
  return [...committed.map(({ name, body }) => ({ name, sql: body })), { name: 'current.sql', sql: current }];
}

/**
 * Builds a database beside another from migrations, and drops it afterwards.
 *
 * @param url the owner's, who needs CREATEDB
 * @throws {StartupError} when the database cannot be made, or a migration fails
 */
export async function withScratchDatabase<T>(
  url: string,
  migrations: readonly Migration[],
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const scratch = otherDatabase(url, `audit_${randomUUID().replaceAll('-', '')}`);
  return withHelper(url, scratch, () =>
    withClient({ connectionString: scratch, application_name: 'graph-query-service audit' }, async (client) => {
      // Compiling the many small statements would take longer than running them.
      await client.query('set jit = off');
      for (const { name, sql } of migrations)
        await client.query(isWithoutTransaction(sql) ? sql : `begin; ${sql}\n; commit`).catch((error: Error) => {
          throw new StartupError(`${name} does not run on an empty database: ${error.message}`, { cause: error });
        });
      return work(client);
    }),
  );
}

import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { isWithoutTransaction } from '../../database/migrations/runCommitted.ts';
import { withClient } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import { withHelper } from '../development/helperDatabase.ts';
import { otherDatabase } from '../development/migrations.ts';
import type { Migration } from './migrationsAt.ts';

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
      for (const migration of migrations) await apply(client, migration);
      return work(client);
    }),
  );
}

async function apply(client: Client, { name, sql }: Migration): Promise<void> {
  try {
    await client.query(isWithoutTransaction(sql) ? sql : `begin; ${sql}\n; commit`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`${name} does not run on an empty database: ${reason}`, { cause: error });
  }
}

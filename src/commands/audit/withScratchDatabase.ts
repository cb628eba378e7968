import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { isWithoutTransaction } from '../../database/migrations/graphileMigrate.ts';
import { withClient } from '../../database/pool/withClient.ts';
import { isForbidden } from '../../database/roles/isForbidden.ts';
import { StartupError } from '../../errors/startupError.ts';
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
  const name = `audit_${randomUUID().replaceAll('-', '')}`;
  await asking(url, (client) => client.query(`create database ${name} template template0`)).catch((cause: unknown) => {
    if (!isForbidden(cause)) throw cause;
    throw new StartupError("DATABASE_URL's role may not create databases; give it CREATEDB.");
  });
  const scratch = new URL(url);
  scratch.pathname = `/${name}`;
  try {
    return await asking(scratch.href, async (client) => {
      for (const migration of migrations) await apply(client, migration);
      return await work(client);
    });
  } finally {
    await asking(url, (client) => client.query(`drop database ${name} with (force)`));
  }
}

async function apply(client: Client, { name, sql }: Migration): Promise<void> {
  try {
    await client.query(isWithoutTransaction(sql) ? sql : `begin; ${sql}\n; commit`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupError(`${name} does not run on an empty database: ${reason}`, { cause: error });
  }
}

function asking<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  return withClient({ connectionString: url, application_name: 'graph-query-service audit' }, async (client) => {
    // Compiling the many small statements would take longer than running them.
    await client.query('set jit = off');
    return work(client);
  });
}

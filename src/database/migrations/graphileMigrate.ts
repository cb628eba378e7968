import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from 'graphile-migrate';
import { clearAllPools } from 'graphile-migrate/dist/pgReal.js';
import type { ClientBase } from 'pg';

/**
 * Runs a command of graphile-migrate, and resolves when its connections are closed.
 * The command ends its pools without waiting for that. When one of their connections breaks, it ends the process with 1, as happened at
 * times when a server was stopped right after the command.
 *
 * @param owner watches the command's connections, to any database
 * @param command gets a function that names the connections of a URL
 */
export async function runGraphileMigrate<T>(
  owner: ClientBase,
  command: (named: (url: string) => string) => Promise<T>,
): Promise<T> {
  const name = `graphile-migrate ${randomUUID()}`;
  const parameter = new URLSearchParams({ application_name: name });
  try {
    return await command((url) => `${url}${url.includes('?') ? '&' : '?'}${parameter}`);
  } finally {
    clearAllPools();
    while (await hasConnections(owner, name)) await delay(2);
  }
}

/** Its log quotes the migration, and its exceptions have the same information. */
export const quiet = new Logger(() => () => undefined);

/** Whether it runs outside of a transaction, which indexes need that are built concurrently. */
export const isWithoutTransaction = (migration: string): boolean =>
  /^(--! [A-Z].*\n|\n)*--! no-transaction\b/.test(migration);

/** False when the server itself is gone. */
async function hasConnections(owner: ClientBase, name: string): Promise<boolean> {
  const text = 'select from pg_stat_activity where application_name = $1';
  const found = await owner.query(text, [name]).catch(() => null);
  return found !== null && found.rowCount !== 0;
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from 'graphile-migrate';
import { clearAllPools } from 'graphile-migrate/dist/pgReal.js';
import type { ClientBase } from 'pg';

/**
 * Runs a command of graphile-migrate, and resolves when its connections are closed.
 * It ends its pools without waiting for that, and ends the process with 1 when one of their connections breaks: a server that is stopped
 * right after the command did that now and then.
 *
 * @param owner watches its connections, whatever database they are to
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

/** What it logs quotes the migration, and comes back as exceptions, too. */
export const quiet = new Logger(() => () => undefined);

/** Whether it runs outside of a transaction, as indexes need that are built concurrently. */
export const isWithoutTransaction = (migration: string): boolean =>
  /^(--! [A-Z].*\n|\n)*--! no-transaction\b/.test(migration);

/** None when the server itself is gone. */
async function hasConnections(owner: ClientBase, name: string): Promise<boolean> {
  const text = 'select from pg_stat_activity where application_name = $1';
  const found = await owner.query(text, [name]).catch(() => null);
  return found !== null && found.rowCount !== 0;
}

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { migrationsFolder, readCommitted } from '../../src/database/migrations/committedMigrations.ts';

/** The last file of the baseline, which runs on empty databases only. */
const lastOfBaseline = 'accepted findings';

/** The migrations that databases with rows run: those after the baseline, and `current.sql`. */
export async function readLaterMigrations(): Promise<{ readonly name: string; readonly text: string }[]> {
  const committed = await readCommitted();
  const last = committed.findIndex(({ message }) => message === lastOfBaseline);
  if (last === -1) throw new Error(`No migration is called ${lastOfBaseline}`);
  const current = { name: 'current.sql', text: await readFile(join(migrationsFolder, 'current.sql'), 'utf8') };
  return [...committed.slice(last + 1).map(({ name, body }) => ({ name, text: body })), current];
}

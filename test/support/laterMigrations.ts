import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { splitAtBaseline } from '../../src/commands/development/releasedMigrations.ts';
import { migrationsFolder, readCommitted } from '../../src/database/migrations/committedMigrations.ts';

/** The migrations that databases with rows run: those after the baseline, and `current.sql`. */
export async function readLaterMigrations(): Promise<{ readonly name: string; readonly text: string }[]> {
  const { later } = splitAtBaseline(await readCommitted());
  const current = { name: 'current.sql', text: await readFile(join(migrationsFolder, 'current.sql'), 'utf8') };
  return [...later.map(({ name, body }) => ({ name, text: body })), current];
}

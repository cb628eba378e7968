import { chmod, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { calculateHash } from 'graphile-migrate/dist/hash.js';
import { serializeMigration } from 'graphile-migrate/dist/migration.js';
import { readCommitted } from '../../database/migrations/committedMigrations.ts';
import { migrationsFolder } from '../../database/migrations/plainText.ts';

/**
 * `npm run db:rehash`: rewrites the hash chain of the migrations after one was edited in place.
 * Each hash covers the previous one, so an edit changes the hash of every later file. From then on, a database that has run the old files
 * is not migrated: docs/upgrading.md. Use it only before the baseline is released. A new file needs no header: its name is the message.
 */
export async function rehash(): Promise<string[]> {
  let previous = '';
  const written: string[] = [];
  for (const { name, body, hash, message } of await readCommitted()) {
    const next = calculateHash(body, previous);
    const headers = {
      Previous: previous || '-',
      Hash: next,
      Message: message || name.replace(/^\d+-|\.sql$/g, '').replaceAll('-', ' '),
    };
    if (hash !== next) written.push(name);
    await replace(join(migrationsFolder, 'committed', name), serializeMigration(body, headers));
    previous = next;
  }
  return written.length === 0 ? ['The hashes are right.'] : [`New hashes: ${written.join(', ')}`];
}

/** By a new file, since a committed one is read-only. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await chmod(`${path}.new`, 0o444);
  await rename(`${path}.new`, path);
}

import { join } from 'node:path';
import { calculateHash } from 'graphile-migrate/dist/hash.js';
import { serializeMigration } from 'graphile-migrate/dist/migration.js';
import { migrationsFolder, readCommitted } from '../../database/migrations/committedMigrations.ts';
import { StartupError } from '../../errors/errors.ts';
import { replaceFile } from './migrations.ts';
import { countReleased, readReleases } from './releasedMigrations.ts';

/**
 * `npm run db:rehash`: rewrites the hash chain of the migrations after one was edited in place that no release has.
 * Each hash covers the previous one, so an edit changes the hash of every later file. From then on, a database that has run the old files
 * is not migrated: docs/upgrading.md. A new file needs no header: its name is the message.
 *
 * @throws {StartupError} when a released migration was edited; then nothing is written
 */
export async function rehash(): Promise<string[]> {
  const files = await readCommitted();
  const released = countReleased(files, await readReleases());
  let previous = '';
  const rehashed = files.map(({ name, body, hash, message }, index) => {
    const next = calculateHash(body, previous);
    if (index < released && hash !== next)
      throw new StartupError(`${name} is released, and never changes: put it back, and write another migration.`);
    const headers = {
      Previous: previous || '-',
      Hash: next,
      Message: message || name.replace(/^\d+-|\.sql$/g, '').replaceAll('-', ' '),
    };
    previous = next;
    return { name, text: serializeMigration(body, headers), isNew: hash !== next };
  });
  for (const { name, text } of rehashed) await replaceFile(join(migrationsFolder, 'committed', name), text, 0o444);
  const written = rehashed.filter(({ isNew }) => isNew).map(({ name }) => name);
  return written.length === 0 ? ['The hashes are right.'] : [`New hashes: ${written.join(', ')}`];
}

import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../src/config.ts';
import type * as migrations from '../../src/database/migrations/committedMigrations.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';

let copy: MigrationsCopy;
beforeAll(async () => {
  copy = await createMigrationsCopy();
  await copy.write('migrations/released.txt', '');
});
afterAll(() => copy.remove());

const rehash = async () => (await copy.run('rehash', [], loadConfig({}, 'migrations'))).lines;

const readCommitted = async () => {
  const path = join(copy.root, 'src/database/migrations/committedMigrations.ts');
  const { readCommitted, requireOrder }: typeof migrations = await import(pathToFileURL(path).href);
  const files = await readCommitted();
  requireOrder(files);
  return files;
};

test('an edited migration and those after it get the hashes of their text, read-only as before', async () => {
  const before = await readCommitted();
  const [edited = '', last = ''] = (await copy.committed()).slice(-2);
  const text = await copy.read(`migrations/committed/${edited}`);
  await chmod(join(copy.root, 'migrations/committed', edited), 0o644);
  await copy.write(`migrations/committed/${edited}`, `${text}-- Edited.\n`);
  expect((await readCommitted()).filter(({ isIntact }) => !isIntact).map(({ name }) => name)).toEqual([edited]);

  const lines = await rehash();

  const after = await readCommitted();
  expect(lines).toEqual([`New hashes: ${edited}, ${last}`]);
  expect(after.every(({ isIntact }) => isIntact)).toBe(true);
  expect(after.slice(0, -2)).toEqual(before.slice(0, -2));
  expect(after.slice(-2).map(({ message }) => message)).toEqual(before.slice(-2).map(({ message }) => message));
  expect((await stat(join(copy.root, 'migrations/committed', edited))).mode & 0o777).toBe(0o444);
});

test('a new migration needs no header: its name says the message', async () => {
  await copy.write('migrations/committed/000999-add-doors.sql', 'create type app_hidden.door as (name text);\n');

  await rehash();

  expect((await readCommitted()).at(-1)).toMatchObject({ message: 'add doors', isIntact: true });
  expect(await rehash()).toEqual(['The hashes are right.']);
});

test('a migration of a release is not rehashed; those after the release are', async () => {
  const files = await readCommitted();
  const [edited, released, after] = files.slice(-3);
  const append = async (name = '') => {
    const path = `migrations/committed/${name}`;
    const text = await copy.read(path);
    await chmod(join(copy.root, path), 0o644);
    await copy.write(path, `${text}-- Edited.\n`);
    return () => copy.write(path, text);
  };
  await copy.write('migrations/released.txt', `# Releases\n0.9.0 ${files[0]?.hash}\n1.0.0 ${released?.hash}\n`);
  expect(await rehash()).toEqual(['The hashes are right.']);

  const undo = await append(edited?.name);
  await expect(rehash()).rejects.toThrow(`${edited?.name} is released, and never changes`);
  await undo();
  expect(await readCommitted()).toEqual(files);

  await append(after?.name);
  expect(await rehash()).toEqual([`New hashes: ${after?.name}`]);

  await copy.write('migrations/released.txt', '1.0.0 sha1:0000\n');
  await expect(rehash()).rejects.toThrow('No migration has the hash of the last one of version 1.0.0');
});

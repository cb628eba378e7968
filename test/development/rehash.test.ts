import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { loadConfig } from '../../src/config.ts';
import type * as migrations from '../../src/database/migrations/committedMigrations.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';

let copy: MigrationsCopy;
beforeAll(async () => {
  copy = await createMigrationsCopy();
});
afterAll(() => copy.remove());

const rehash = async () => {
  const lines: string[] = [];
  await copy.runDevelopmentCommand('rehash', [], loadConfig({}, 'migrations'), (line) => lines.push(line));
  return lines;
};

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

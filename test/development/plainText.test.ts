// Files of migrations as editors and git of other systems write them.
import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { calculateHash } from 'graphile-migrate/dist/hash.js';
import { blankCurrent } from '../../src/commands/development/migrations.ts';
import { loadConfig } from '../../src/config.ts';
import type * as migrations from '../../src/database/migrations/committedMigrations.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createMigrationsCopy, type MigrationsCopy } from '../support/migrationsCopy.ts';

let copy: MigrationsCopy;
let database: TestDatabase;
beforeAll(async () => {
  [copy, database] = await Promise.all([createMigrationsCopy(), createTestDatabase()]);
});
afterAll(async () => {
  await copy.remove();
  await database.drop();
});

const mark = '\uFEFF';
const withCrlf = (text: string) => text.replaceAll('\n', '\r\n');
const inUtf16 = (text: string) => Buffer.from(mark + text, 'utf16le');

const readCommitted = async () => {
  const path = join(copy.root, 'src/database/migrations/committedMigrations.ts');
  return ((await import(pathToFileURL(path).href)) as typeof migrations).readCommitted();
};
const applyCurrent = () => copy.applyCurrent(database.ownerUrl);
const run = async (command: 'commit' | 'rehash' | 'status', ...args: string[]) =>
  (await copy.run(command, args, loadConfig({ DATABASE_URL: database.ownerUrl }, 'migrations'))).lines;

/** What PostgreSQL keeps of a function's text as it was written. */
const sql = (name: string) => `
drop function if exists app_hidden.${name}();
create function app_hidden.${name}() returns text language sql as $$
  select 'Grüße'
$$;
`;
const bodyOf = async (name: string) =>
  (await database.owner.query('select prosrc from pg_proc where proname = $1', [name])).rows[0]?.prosrc;

const body = "\n  select 'Grüße'\n";

test.each([
  ['line ends of Windows', withCrlf],
  ['a byte order mark', (text: string) => mark + text],
  ['both, and no last line end', (text: string) => mark + withCrlf(text).trimEnd()],
])('current.sql with %s runs as it does without', async (_, change) => {
  await copy.write('migrations/current.sql', change(sql('greeting')));

  await applyCurrent();

  expect(await bodyOf('greeting')).toBe(body);
  await copy.write('migrations/current.sql', 'drop function app_hidden.greeting();');
  await applyCurrent();
});

test('a mistake is found at its line and column', async () => {
  await copy.write('migrations/current.sql', mark + withCrlf('-- Mistake\ncreate tabel x ();\n'));

  await expect(applyCurrent()).rejects.toThrow(/current\.sql:2:8: syntax error at or near "tabel"/);
});

test('a text in UTF-16 is named, in current.sql and in a committed file', async () => {
  await writeFile(join(copy.root, 'migrations/current.sql'), inUtf16(sql('greeting')));
  const message =
    /^(Nothing is committed\.\n)?\S*migrations\/current\.sql is not text in UTF-8, perhaps UTF-16; save it as UTF-8\./;

  await copy.migrate(database, createLog('silent'));
  await expect(applyCurrent()).rejects.toThrow(message);
  await expect(run('commit', 'greet')).rejects.toThrow(message);

  await copy.write('migrations/current.sql', '');
  await writeFile(join(copy.root, 'migrations/committed/999999-late.sql'), inUtf16('--! Previous: -\n'));
  await expect(readCommitted()).rejects.toThrow(/999999-late\.sql is not text in UTF-8/);
  await copy.removeFile('migrations/committed/999999-late.sql');
});

test('a migration is committed with the hash of its plain text', async () => {
  const previous = (await readCommitted()).at(-1)?.hash;
  await copy.write('migrations/current.sql', mark + withCrlf(sql('welcome')));

  await run('commit', 'welcome');

  const name = (await copy.committed()).at(-1) ?? '';
  const text = await copy.read(`migrations/committed/${name}`);
  expect(text).not.toMatch(/\r|\uFEFF/);
  expect(text).toContain(`--! Hash: ${calculateHash(sql('welcome'), previous ?? null)}\n`);
  expect(await bodyOf('welcome')).toBe(body);
});

test('committed files have the same hashes and run as they do without, and db:rehash writes them anew', async () => {
  await copy.commit('bid farewell', sql('farewell'));
  const before = await readCommitted();
  const bytes = new Map<string, string>();
  for (const name of await copy.committed()) {
    const path = join(copy.root, 'migrations/committed', name);
    const text = await readFile(path, 'utf8');
    bytes.set(path, text);
    await chmod(path, 0o644);
    await writeFile(path, mark + withCrlf(text));
  }

  await copy.migrate(database, createLog('silent'));

  expect(await readCommitted()).toEqual(before);
  expect(before.every(({ isIntact }) => isIntact)).toBe(true);
  expect(await bodyOf('farewell')).toBe(body);
  expect(await run('rehash')).toEqual(['The hashes are right.']);
  for (const [path, text] of bytes) expect(await readFile(path, 'utf8')).toBe(text);
});

test.each([
  ['has its text still, it is undone', (text: string) => text, []],
  ['is empty, it is ended', () => '', []],
  ['has another text, it is ended', () => sql('other'), ['other']],
])('when db:commit was killed, and current.sql %s', async (_, currentOf, others) => {
  const before = await copy.committed();
  const name = await copy.commit('move', sql('moved'));
  const moving = join(copy.root, 'migrations/committed', name);
  await rename(moving, `${moving}.moving`);
  await copy.write('migrations/current.sql', currentOf(sql('moved')));

  await run('commit', 'move');

  const added = (await copy.committed()).filter((file) => !before.includes(file));
  const texts = await Promise.all(added.map((file) => copy.read(`migrations/committed/${file}`)));
  expect(texts.map((text) => /create function app_hidden\.(\w+)/.exec(text)?.[1])).toEqual(['moved', ...others]);
  for (const each of ['moved', ...others]) expect(await bodyOf(each)).toBe(body);
  expect(['', blankCurrent]).toContain((await copy.read('migrations/current.sql')).trim());
  await expect(run('commit', 'move')).rejects.toThrow('current.sql has no statement: there is nothing to commit.');
});

test('a committed file that was changed does not run, and is named', async () => {
  await copy.commit('say late', sql('late'));
  const name = (await copy.committed()).at(-1) ?? '';
  const path = join(copy.root, 'migrations/committed', name);
  const text = await readFile(path, 'utf8');
  await chmod(path, 0o644);
  await writeFile(path, text.replace('Grüße', 'Gruß'));

  await expect(copy.migrate(database, createLog('silent'))).rejects.toThrow(
    `The migration ${name} failed and changed nothing: it was changed after it was committed; put it back`,
  );
  expect(await bodyOf('late')).toBeUndefined();
  await writeFile(path, text);
  await copy.migrate(database, createLog('silent'));
  expect(await bodyOf('late')).toBe(body);
});

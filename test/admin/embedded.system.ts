import { Client } from 'pg';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { startProcess } from '../support/process.ts';
import { runAdmin } from './support.ts';

describe('the admin command line on the embedded database', () => {
  let dataDir: string;
  let environment: Record<string, string>;

  beforeAll(async () => {
    dataDir = await createTestDataDirectory(await directoryInMemory());
    environment = {
      PATH: process.env.PATH ?? '',
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      ...testPasswordCost,
    };
  });

  afterAll(async () => {
    await removeTestDataDirectory(dataDir);
  });

  const applied = (name: string) =>
    runAdmin(['apply', '-'], environment, JSON.stringify({ organizations: [{ name }] }));

  const organizations = async (url: string): Promise<string[]> => {
    const client = new Client({ connectionString: url.trim() });
    await client.connect();
    const { rows } = await client.query('select name from app_hidden.organizations order by 1');
    await client.end();
    return rows.map(({ name }) => name);
  };

  it('works before the service has ever run, while it runs and after it has stopped', async () => {
    // As root in a folder that others may not enter, it says where PostgreSQL's files are.
    expect(await applied('Before')).toMatchObject({ code: 0, stderr: expect.not.stringContaining('"level":50') });

    const service = startProcess([], environment);
    await service.says('Graph Query Service:');
    expect(await applied('While')).toMatchObject({ code: 0, stderr: '' });
    const running = await runAdmin(['database-url'], environment);
    expect(await organizations(running.stdout)).toEqual(['Before', 'Demo', 'While']);
    expect(running).toMatchObject({ code: 0, stderr: '' });
    service.signal('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });

    expect(await applied('After')).toMatchObject({ code: 0, stderr: '' });
    const stopped = await runAdmin(['database-url'], environment);
    expect(stopped).toEqual({ code: 0, stdout: running.stdout, stderr: expect.stringContaining('is not running') });
    expect(stopped.stdout).toBe(running.stdout);
    expect(stopped.stderr).toContain('is not running');
    await expect(organizations(stopped.stdout)).rejects.toThrow('ENOENT');
  }, 120_000);
});

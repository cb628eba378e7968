import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';

describe('npm start without a database', () => {
  let dataDir: string;
  let service: TestProcess;

  beforeAll(async () => {
    dataDir = await createTestDataDirectory();
  });

  beforeEach(async () => {
    service = await start();
  });

  afterEach(async () => {
    service.signal('SIGTERM');
    await service.exited;
  });

  afterAll(() => removeTestDataDirectory(dataDir));

  it('serves', async () => {
    const response = await fetch(`${addressOf(service)}/readyz`);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ready' });
  });

  it('keeps its secrets readable for its owner only', async () => {
    for (const name of ['postgres.json', 'secret-key.json']) {
      expect((await stat(join(dataDir, name))).mode & 0o777).toBe(0o600);
    }
    expect((await readdir(dataDir)).filter((name) => name.includes('password'))).toEqual([]);
  });

  it('stops the database cleanly on SIGTERM and exits with 0', async () => {
    service.signal('SIGTERM');

    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(await findEmbeddedPostgres(dataDir, log)).toBeNull();
  });

  it('stops as cleanly when the whole group gets Ctrl-C, more than once', async () => {
    service.signalGroup('SIGINT');
    service.signalGroup('SIGINT');
    service.signal('SIGTERM');

    expect(await service.exited).toEqual({ code: 0, signal: null });
  });

  it('keeps every acknowledged write when the whole group is killed', async () => {
    await remember('group');

    service.signalGroup('SIGKILL');
    await service.exited;
    const startedAt = Date.now();
    service = await start();

    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(await remembered()).toContain('group');
  });

  it('keeps every acknowledged write when the database is killed, too', async () => {
    await remember('everything');

    service.signalGroup('SIGKILL');
    await service.exited;
    process.kill(await postmasterPid(), 'SIGKILL');
    service = await start();

    expect(await remembered()).toContain('everything');
  });

  it('starts the database again when that alone is killed', async () => {
    await remember('database');

    process.kill(await postmasterPid(), 'SIGKILL');
    await service.says('the embedded database ended; starting it again');
    await until(async () => (await fetch(`${addressOf(service)}/readyz`)).status === 200);

    expect(await remembered()).toContain('database');
  });

  it('refuses a second server on the same directory and leaves the first alone', async () => {
    const second = startProcess([], environment());

    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.output.stderr).toContain(`Another server already uses the data directory ${dataDir}`);
    expect((await fetch(`${addressOf(service)}/readyz`)).status).toBe(200);
  });

  it('lets exactly one of several win that start at the same instant', async () => {
    service.signal('SIGTERM');
    await service.exited;
    const contenders = [1, 2, 3].map(() => startProcess([], environment()));

    const outcomes = await Promise.all(
      contenders.map((contender) =>
        contender.says('Graph Query Service: http').then(
          () => contender,
          () => null,
        ),
      ),
    );

    const winners = outcomes.filter((winner) => winner !== null);
    expect(winners).toHaveLength(1);
    service = winners[0] ?? service;
  });

  const environment = () => ({ PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0' });

  async function start(): Promise<TestProcess> {
    const started = startProcess([], environment());
    await started.says('Graph Query Service: http');
    return started;
  }

  async function remember(word: string): Promise<void> {
    await asOwner((client) => client.query('create table if not exists public.words (word text)'));
    await asOwner((client) => client.query('insert into public.words values ($1)', [word]));
  }

  async function remembered(): Promise<string[]> {
    const { rows } = await asOwner((client) => client.query<{ word: string }>('select word from public.words'));
    return rows.map((row) => row.word);
  }

  async function postmasterPid(): Promise<number> {
    const pid = 'select pg_read_file($1)';
    const { rows } = await asOwner((client) => client.query<{ pg_read_file: string }>(pid, ['postmaster.pid']));
    return Number(rows[0]?.pg_read_file.split('\n')[0]);
  }

  async function asOwner<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const urls = await findEmbeddedPostgres(dataDir, log);
    const client = new Client({ connectionString: urls?.ownerUrl });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }
});

const log = createLog('silent');

function addressOf(service: TestProcess): string {
  return /Graph Query Service: (http\S+)/.exec(service.output.stdout)?.[1] ?? '';
}

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { createMigratedDataDirectory } from '../support/migratedDataDirectory.ts';
import { until } from '../support/until.ts';

/** The socket's path. */
function socketOf(url: string): string {
  const { searchParams } = new URL(url);
  return `${searchParams.get('host')}/.s.PGSQL.${searchParams.get('port')}`;
}

const log = createLog('silent');

describe('the embedded database', () => {
  let dataDir: string;
  let postgres: EmbeddedPostgres;
  beforeAll(async () => {
    dataDir = await createMigratedDataDirectory();
    postgres = await startEmbeddedPostgres(dataDir, log);
  });
  afterAll(async () => {
    await postgres.stop();
    await removeTestDataDirectory(dataDir);
  });

  it('listens on no port, of which another user could take the place and be sent the password', async () => {
    expect(await ask(postgres.ownerUrl, 'show listen_addresses')).toBe('');
    expect(await ask(postgres.authUrl, "select inet_server_port() is null || ' ' || current_user")).toBe(
      'true graph_authenticator',
    );
  });

  it('is reached by no other user of the machine', async () => {
    const path = socketOf(postgres.ownerUrl);
    const { mode, uid } = await stat(dirname(path));

    expect((mode & 0o777).toString(8)).toBe('700');
    expect(await canConnect(path, uid)).toBe(true);
    expect(await canConnect(path, 65_534)).toBe(process.getuid?.() !== 0);
  });

  it('waits for a session that outlives a server that was killed', async () => {
    const long = ask(postgres.ownerUrl, "select 'counted' from generate_series(1, 8000000) having count(*) > 0");
    const running =
      "select count(*) from pg_stat_activity where state = 'active' and query like '%8000000%' and pid <> pg_backend_pid()";
    await until(async () => (await ask(postgres.ownerUrl, running)) === '1');
    const pid = Number(await ask(postgres.ownerUrl, "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)"));

    process.kill(pid, 'SIGKILL');

    expect(await long).toBe('counted');
    await until(async () => (await ask(postgres.ownerUrl, "select 'answered'").catch(() => null)) === 'answered');
  });

  it('starts beside a program that has by now the process number of a server that was killed, and leaves it alone', async () => {
    await postgres.stop();
    const other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
    await writeFile(join(postgres.cluster, 'postmaster.pid'), `${other.pid}\n`);

    postgres = await startEmbeddedPostgres(dataDir, log);

    expect(await ask(postgres.ownerUrl, "select 'answered'")).toBe('answered');
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
    other.kill();
    await once(other, 'exit');
  });
});

it('has its socket in a shorter place where the data directory has a long name', async () => {
  const parent = await createTestDataDirectory();
  const dataDir = join(parent, 'a'.repeat(120));
  await mkdir(dataDir, { mode: 0o711 });
  const postgres = await startEmbeddedPostgres(dataDir, log);
  const folder = dirname(socketOf(postgres.ownerUrl));

  expect(await ask(postgres.ownerUrl, "select 'answered'")).toBe('answered');
  expect(((await stat(folder)).mode & 0o777).toString(8)).toBe('700');
  await postgres.stop();

  // Another user could have made it, and would see what is asked there.
  await rm(folder, { recursive: true });
  await mkdir(folder);
  await expect(startEmbeddedPostgres(dataDir, log)).rejects.toThrow(`${folder} is another user's`);
  await rm(folder, { recursive: true });
  await removeTestDataDirectory(parent);
});

it('begins anew where the data directory was deleted, also below a folder that PostgreSQL’s user may not enter', async () => {
  const parent = await createTestDataDirectory();
  await chmod(parent, 0o700);
  const dataDir = join(parent, 'data');
  const warnings: string[] = [];
  const log = createLog('warn', { write: (line) => warnings.push((JSON.parse(line) as { msg: string }).msg) });
  const first = await startEmbeddedPostgres(dataDir, log);
  await ask(first.ownerUrl, 'create table kept ()');
  await first.stop();
  const again = await startEmbeddedPostgres(dataDir, log);
  expect(await ask(again.ownerUrl, `select to_regclass('kept') is not null`)).toBe(true);
  await again.stop();
  await rm(dataDir, { recursive: true });
  warnings.length = 0;

  const next = await startEmbeddedPostgres(dataDir, log);

  expect(await ask(next.ownerUrl, `select to_regclass('kept') is not null`)).toBe(false);
  await next.stop();
  if (process.getuid?.() === 0) {
    const aside = `${next.cluster}-before`;
    expect(warnings).toContainEqual(expect.stringContaining(aside));
    expect(existsSync(join(aside, 'PG_VERSION'))).toBe(true);
  } else expect(warnings).toEqual([]);
  await removeTestDataDirectory(dataDir);
  await removeTestDataDirectory(parent);
});

async function ask(connectionString: string, question: string): Promise<string> {
  const client = new Client({ connectionString });
  // A session that outlives its server answers, and then says at once that it ends.
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<[string]>({ text: question, rowMode: 'array' });
  await client.end();
  return rows[0]?.[0] ?? '';
}

/** In a process of that user where this one is root; else as this user. */
async function canConnect(path: string, uid: number): Promise<boolean> {
  const become =
    process.getuid?.() === 0 ? `process.setgroups([]); process.setgid(${uid}); process.setuid(${uid});` : '';
  const script = `${become} require('net').connect(process.argv[1]).on('connect', () => process.exit(0)).on('error', () => process.exit(1))`;
  // It becomes the user once it runs: where root has cloned below /root, that user could not run the program.
  return promisify(execFile)(process.execPath, ['-e', script, path], { cwd: '/' }).then(
    () => true,
    () => false,
  );
}

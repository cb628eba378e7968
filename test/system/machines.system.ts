import { randomUUID } from 'node:crypto';
import { existsSync, globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startProcess, type TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';
import { startPostgresServer } from './support/postgresServer.ts';
import { mountSmallDisk, type SmallDisk } from './support/smallDisk.ts';

// Disks that are small, full or gone, as root with CAP_SYS_ADMIN, and clocks that differ (`apt-get install faketime`).

const start = (DATA_DIR: string, environment: Record<string, string> = {}) =>
  startProcess([], { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', DATA_DIR, ...environment });

async function stop(service: TestProcess): Promise<void> {
  service.signal('SIGTERM');
  await service.exited;
}

const readiness = async (service: TestProcess): Promise<{ status: string; reason?: string; notice?: string }> =>
  (await fetch(`${addressOf(service)}/readyz`)).json() as never;

/** Creates a unit with the demo's token. @returns the answer's status and code */
async function write(service: TestProcess): Promise<string> {
  const [, token] = /Bearer (gqs_at_[\w-]+)/.exec(service.output.stdout) ?? [];
  const response = await fetch(`${addressOf(service)}/graphql`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: `mutation { unitCreate(name: "${randomUUID()}") { unit { id } } }` }),
  });
  const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
  return `${response.status} ${errors?.[0]?.extensions.code ?? ''}`.trim();
}

describe('a disk', () => {
  let disk: SmallDisk;
  afterEach(() => disk.remove());

  test('that is too small for a new database is named before anything is made on it', async () => {
    disk = await mountSmallDisk(58);
    const { exited, output } = start(join(disk.path, 'data'));

    expect((await exited).code).toBe(1);
    expect(output.stderr).toMatch(
      /^The disk of \S+\/data is full: 57 MB are free, and PostgreSQL needs 96\. Free space/,
    );
    expect(existsSync(join(disk.path, 'data/postgres'))).toBe(false);
  });

  test('that fills while the service runs is named in the log and by /readyz, and writes go on when there is room', async () => {
    disk = await mountSmallDisk(110);
    const service = start(join(disk.path, 'data'));
    await service.says('Bearer gqs_at_');
    expect(await write(service)).toBe('200');

    await disk.fill();
    // What is allocated already may still be written.
    const answers = new Set<string>();
    await until(async () => answers.add(await write(service)).has('503 UNAVAILABLE'));
    await until(async () => /disk .*is full/.test(JSON.stringify(await readiness(service))));
    expect(service.output.stderr).toMatch(/disk .{0,200}is full/);
    expect([...answers].filter((answer) => !['200', '503 UNAVAILABLE'].includes(answer))).toEqual([]);

    await disk.free();
    await until(async () => (await write(service)) === '200');
    await stop(service);

    await disk.fill();
    const again = start(join(disk.path, 'data'));
    await again.exited;
    expect(again.output.stderr).toMatch(/The disk of \S+ is full: .*log is \S+postgres\.log/);
  });

  test('that is gone makes the service unready, and nothing a fault of its own', async () => {
    disk = await mountSmallDisk(128);
    const service = start(join(disk.path, 'data'));
    await service.says('Bearer gqs_at_');
    await rm(join(disk.path, 'data'), { recursive: true });

    const answers = new Set<string>();
    await until(async () => {
      answers.add(await write(service));
      return (await readiness(service)).status === 'unavailable';
    });
    expect([...answers].filter((answer) => !['200', '503 UNAVAILABLE'].includes(answer))).toEqual([]);
    await stop(service);
  });
});

test("servers whose clocks differ, and a server whose clock is set back, count by PostgreSQL's clock", async () => {
  const [faketime] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
  if (!faketime) throw new Error('There is no libfaketime. On Debian: apt-get install faketime');
  const postgres = await startPostgresServer();
  const serverAt = (FAKETIME: string) =>
    startServer({
      AUTH_DATABASE_URL: postgres.authUrl,
      THROTTLE_REQUESTS_PER_MINUTE: '10',
      ...{ LD_PRELOAD: faketime, FAKETIME, DONT_FAKE_MONOTONIC: '1' },
    });
  const servers = [await serverAt('+0s'), await serverAt('+120s'), await serverAt('-3600s')];
  const dates = servers.map(async (server) => Date.parse((await fetch(addressOf(server))).headers.get('Date') ?? ''));
  const [now = 0, later = 0, earlier = 0] = await Promise.all(dates);
  expect([later - now > 100_000, now - earlier > 3_500_000]).toEqual([true, true]);

  const answers: Response[] = [];
  for (let sent = 0; sent < 24; sent++) {
    const server = servers[sent % servers.length] as TestProcess;
    answers.push(await fetch(`${addressOf(server)}/oauth/token`, { method: 'POST' }));
  }

  expect(answers.slice(0, 10).map(({ status }) => status)).not.toContain(429);
  const refused = answers.slice(10);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  for (const { headers } of refused) expect(Number(headers.get('Retry-After'))).toBeLessThanOrEqual(60);
  await Promise.all(servers.map(stop));
  await postgres.remove();
});

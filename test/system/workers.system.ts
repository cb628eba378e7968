import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { createTenant, createUser } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { removeTestDataDirectory } from '../support/dataDirectory.ts';
import { freePort } from '../support/freePort.ts';
import { createMigratedDataDirectory } from '../support/migratedDataDirectory.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { startSteadyLoad } from '../support/steadyLoad.ts';
import { until } from '../support/until.ts';
import { addressOf, workersOf } from '../support/workers.ts';

describe('a service of several workers', () => {
  let database: TestDatabase;
  let service: TestProcess;
  /** Another one on the same database. */
  let successor: TestProcess;
  let url: string;
  let metricsPort: number;
  let token: string;

  const environment = () => ({
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: database.authUrl,
    SECRET_KEY: testSecretKey,
    WORKERS: '2',
    LOG_LEVEL: 'warn',
  });

  async function start(more: Record<string, string> = {}): Promise<TestProcess> {
    const started = startProcess([], { ...environment(), ...more });
    await started.says('Graph Query Service: http');
    return started;
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    const tenant = await createTenant({ database });
    for (let n = 0; n < 5; n++) await createUser(tenant);
    token = tenant.app;
    metricsPort = await freePort();
    [service, successor] = await Promise.all([
      start({ LOG_LEVEL: 'info', METRICS_PORT: String(metricsPort) }),
      start(),
    ]);
    url = addressOf(service);
  });

  afterAll(async () => {
    for (const started of [service, successor]) {
      started.signal('SIGTERM');
      await started.exited;
    }
    await database.drop();
  });

  it('says once where it is, and serves with all of them', async () => {
    expect(service.output.stdout).toBe(`Graph Query Service: ${url}\n`);
    expect(await workersOf(service)).toHaveLength(2);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('serves with whatever worker a request reaches as soon as it says that it is ready', async () => {
    const port = await freePort();
    const started = startProcess([], { ...environment(), PORT: String(port) });
    const statusOf = async (path: string) => {
      const headers = { Authorization: `Bearer ${token}`, Connection: 'close' };
      return (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).status;
    };
    await until(() =>
      statusOf('/readyz').then(
        (status) => status === 200,
        () => false,
      ),
    );

    const statuses = new Set<number>();
    while (!started.output.stdout.includes('Graph Query Service: http'))
      for (const path of ['/readyz', '/graphql?query={app{name}}']) statuses.add(await statusOf(path));
    for (let n = 0; n < 10; n++) statuses.add(await statusOf('/readyz'));

    expect([...statuses]).toEqual([200]);
    started.signal('SIGTERM');
    await started.exited;
  });

  it('hides its secrets from a list of processes', async () => {
    const { password } = new URL(database.authUrl);
    for (const pid of await workersOf(service)) {
      const shown = `${await readFile(`/proc/${pid}/cmdline`)} ${await readFile(`/proc/${pid}/environ`)}`;
      expect(shown).not.toContain(password);
      expect(shown).not.toContain(testSecretKey);
    }
  });

  it('shows the metrics of all workers at once', async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();

    expect(text).toContain('\ngraph_workers 2\n');
  });

  it('starts a worker again that was killed, while the other serves', async () => {
    const [victim = 0, other] = await workersOf(service);

    process.kill(victim, 'SIGKILL');
    await service.says('a worker ended; starting another');

    await until(async () => (await workersOf(service)).length === 2);
    expect(await workersOf(service)).toContain(other);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });

  it('replaces the workers on SIGHUP without a failed request', async () => {
    const before = await workersOf(service);
    const load = startSteadyLoad({ urls: [url], token, connections: 4, pauseMs });
    await until(() => load.answered > 20);

    service.signal('SIGHUP');
    await service.says('the workers are replaced');
    const answered = load.answered;
    await until(() => load.answered > answered + 20);
    await load.stop();

    expect(load.failures).toEqual([]);
    const after = await workersOf(service);
    expect(after).toHaveLength(2);
    expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  }, 120_000);

  it('ends with the exit code of a worker that cannot start, and says why once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'graph-query-service-operations-'));
    await writeFile(join(folder, 'wrong.graphql'), '{ noSuchField }');

    const wrong = startProcess([], { ...environment(), PERSISTED_OPERATIONS: folder });

    expect(await wrong.exited).toEqual({ code: 78, signal: null });
    expect(wrong.output.stderr.match(/noSuchField/g)).toHaveLength(1);
    expect(wrong.output.stdout).toBe('');
    await rm(folder, { recursive: true });
  });

  it('ends with it, too, when no worker can be started again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'graph-query-service-operations-'));
    await writeFile(join(folder, 'right.graphql'), '{ app { name } }');
    const service = startProcess([], { ...environment(), WORKERS: '1', PERSISTED_OPERATIONS: folder });
    await service.says('Graph Query Service: http');
    await writeFile(join(folder, 'wrong.graphql'), '{ noSuchField }');

    for (const pid of await workersOf(service)) process.kill(pid, 'SIGKILL');

    expect(await service.exited).toEqual({ code: 78, signal: null });
    await rm(folder, { recursive: true });
  });

  it('answers what is in flight on SIGTERM, and exits with 0', async () => {
    const load = startSteadyLoad({ urls: [url, addressOf(successor)], token, connections: 4, pauseMs });
    await until(() => load.answered > 20);

    service.signalGroup('SIGTERM');

    expect(await service.exited).toEqual({ code: 0, signal: null });
    const answered = load.answered;
    await until(() => load.answered > answered + 20);
    await load.stop();
    expect(load.failures).toEqual([]);
  });

  it('lets no client wait when it stops, and ends within 10 s beside requests that do not', async () => {
    const stopped = await start();
    const address = addressOf(stopped);
    const blocker = await database.owner.connect();
    await blocker.query('begin; lock table app_public.units');
    const silent = connect(Number(new URL(address).port), '127.0.0.1');
    await once(silent, 'connect');
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ query: '{ app { rootUnits { totalCount } } }' });
    const blocked = fetch(`${address}/graphql`, { method: 'POST', headers, body }).catch(() => 'cut');
    await until(async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return (await database.owner.query(waiting)).rowCount === 1;
    });
    const load = startSteadyLoad({ urls: [address, address], token, connections: 16 });
    await until(() => load.answered > 20);

    const since = performance.now();
    stopped.signalGroup('SIGTERM');
    await until(() => silent.readableEnded);
    await load.stop();

    expect(stopped.running).toBe(true);
    expect(await stopped.exited).toEqual({ code: 0, signal: null });
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(await blocked).toBe('cut');
    await blocker.query('rollback');
    blocker.release();
  });

  it('leaves no worker behind when it is killed', async () => {
    const pids = await workersOf(successor);

    successor.signal('SIGKILL');
    await successor.exited;

    expect(pids).toHaveLength(2);
    await until(() => pids.every((pid) => !isRunning(pid)));
  });
});

it('several workers share the embedded database, which their supervisor has', async () => {
  const dataDir = await createMigratedDataDirectory();
  const environment = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', WORKERS: '2', ...testPasswordCost };
  const service = startProcess([], environment);
  await service.says('curl ');
  const [, secret = ''] = /client_secret (\S+)$/m.exec(service.output.stdout) ?? [];
  const form = { grant_type: 'client_credentials', client_id: 'demo-backend', client_secret: secret };

  const answers = await Promise.all(
    [1, 2, 3, 4].map(() =>
      fetch(`${addressOf(service)}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) }),
    ),
  );
  const [worker = 0] = await workersOf(service);
  process.kill(worker, 'SIGKILL');
  await service.says('a worker ended; starting another');
  service.signalGroup('SIGINT');

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(service.output.stdout.match(/Demo credentials/g)).toHaveLength(3);
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(await findEmbeddedPostgres(dataDir, createLog('silent'))).toBeNull();
  await removeTestDataDirectory(dataDir);
});

/** Between requests of a load, which would else keep the processes that start from their cores. */
const pauseMs = 10;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

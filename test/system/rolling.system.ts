import { createTenant, createUser } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import type { TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { startSteadyLoad } from '../support/steadyLoad.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';

// Issued to two services of one database, as two machines behind a balancer are.

const requests = 20_000;
const connections = 16;

let database: TestDatabase;
let token: string;
beforeAll(async () => {
  database = await createTestDatabase();
  const tenant = await createTenant({ database });
  for (let n = 0; n < 5; n++) await createUser(tenant);
  token = tenant.app;
});
afterAll(() => database.drop());

test('rolling restarts under load fail no request of 20,000', async () => {
  const service = await start();
  const load = startSteadyLoad({ urls: [addressOf(service)], token, connections });

  let rolls = 0;
  while (load.answered + load.failures.length < requests) {
    service.signal('SIGHUP');
    rolls++;
    await untilSaid(service, 'the workers are replaced', rolls);
  }
  await load.stop();
  await stop(service);

  expect(load.failures).toEqual([]);
  expect(rolls).toBeGreaterThan(1);
  console.log(`${load.answered} requests, ${rolls} rolling restarts`);
}, 600_000);

test('SIGTERM under load fails no request of 20,000', async () => {
  const first = await start();
  const second = await start();
  const services = [first, second];
  const ports = services.map((service) => new URL(addressOf(service)).port);
  const load = startSteadyLoad({ urls: services.map(addressOf), token, connections });

  let stops = 0;
  while (load.answered + load.failures.length < requests) {
    const place = stops % 2;
    const stopped = services[place];
    const answered = load.answered;
    await until(() => load.answered > answered + 100);
    // To all of its processes, as a terminal does it, and systemd.
    stopped?.signalGroup('SIGTERM');
    expect(await stopped?.exited).toEqual({ code: 0, signal: null });
    services[place] = await start(ports[place]);
    stops++;
  }
  await load.stop();
  await Promise.all(services.map(stop));

  expect(load.failures).toEqual([]);
  expect(stops).toBeGreaterThan(1);
  console.log(`${load.answered} requests, ${stops} stops`);
}, 600_000);

async function start(port = '0'): Promise<TestProcess> {
  return startServer({
    PORT: port,
    AUTH_DATABASE_URL: database.authUrl,
    WORKERS: '2',
  });
}

async function stop(service: TestProcess): Promise<void> {
  service.signal('SIGTERM');
  await service.exited;
}

function untilSaid({ output }: TestProcess, text: string, times: number): Promise<void> {
  return until(() => output.stderr.split(text).length > times);
}

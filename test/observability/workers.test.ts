import { ask, createTenant, type Tenant } from '../graphql/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/freePort.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { addressOf, workersOf } from '../support/workers.ts';
import { type Collector, startCollector } from './collector.ts';
import { scrape } from './support.ts';

// Several processes are seen as one service.

let database: TestDatabase;
let collector: Collector;
let service: TestProcess;
let tenant: Tenant;
let port: number;
beforeAll(async () => {
  database = await createTestDatabase();
  collector = await startCollector();
  tenant = await createTenant({ database });
  port = await freePort();
  service = startProcess([], {
    PATH: process.env.PATH ?? '',
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: String(port),
    AUTH_DATABASE_URL: database.authUrl,
    SECRET_KEY: testSecretKey,
    WORKERS: '2',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  await service.says('Graph Query Service: http');
});
afterAll(async () => {
  service.signal('SIGTERM');
  await service.exited;
  await collector.stop();
  await database.drop();
});

/** The sum of a counter over all workers. */
async function total(name: string): Promise<number> {
  const { samples } = await scrape(port);
  return [...samples].filter(([sample]) => sample.startsWith(name)).reduce((sum, [, value]) => sum + value, 0);
}

test('each request is counted by one worker, and the scrape has all', async () => {
  const url = addressOf(service);
  for (let request = 0; request < 10; request++)
    await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${tenant.app}`, Connection: 'close' },
      body: JSON.stringify({ query: 'query Name { app { name } }' }),
    });

  await until(async () => (await total('graph_requests_total')) === 10);
  const { text } = await scrape(port);
  expect(new Set([...text.matchAll(/process_resident_memory_bytes\{worker="(\d+)"\}/g)].map(([, id]) => id)).size).toBe(
    2,
  );
  expect(text).toContain('\ngraph_workers 2\n');
});

test('a worker that is stuck does not take the metrics of the others along', async () => {
  const [stuck = 0] = await workersOf(service);

  process.kill(stuck, 'SIGSTOP');
  const meanwhile = await scrape(port);
  process.kill(stuck, 'SIGCONT');

  expect(meanwhile.text).toContain('\ngraph_workers 1\n');
  expect(meanwhile.text).toContain('process_resident_memory_bytes');
  await until(async () => (await scrape(port)).text.includes('\ngraph_workers 2\n'));
});

test('workers send their traces', async () => {
  await ask({ url: addressOf(service) } as never, tenant.app, 'query Traced { app { name } }');

  await until(() => collector.spans.some(({ attributes }) => attributes['graphql.operation.name'] === 'Traced'));
  expect(collector.spans.map(({ name }) => name)).toContainEqual(expect.stringMatching(/^select app_public\.app\b/));
});

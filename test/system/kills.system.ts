import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import type { TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { addressOf, workersOf } from '../support/workers.ts';
import { createTenantWithSecret } from './support/tenant.ts';
import { startWriters } from './support/writers.ts';

const kills = 50;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('what was acknowledged is there after 50 kills of the service at random moments, and nothing is half there', async () => {
  const tenant = await createTenantWithSecret(database.owner);
  let service = await start();
  let url = addressOf(service);
  const writers = startWriters(() => url, tenant, 16);

  for (let kill = 0; kill < kills; kill++) {
    await delay(randomInt(50, 500));
    // By turns the whole service and one of its workers.
    if (kill % 2 === 0) {
      service.signalGroup('SIGKILL');
      await service.exited;
      service = await start();
      url = addressOf(service);
    } else {
      const [victim] = await workersOf(service);
      if (victim) process.kill(victim, 'SIGKILL');
    }
  }
  await writers.stop();
  service.signal('SIGTERM');
  await service.exited;

  const found = await writers.findings(database.owner);
  expect(found).toMatchObject({ lost: [], halfThere: [] });
  expect(found.users).toBeGreaterThan(kills);
  console.log(
    `${kills} kills: ${found.users} users, ${found.deletions} deletions and ${found.tokens} tokens were acknowledged`,
  );
}, 600_000);

function start(): Promise<TestProcess> {
  return startServer({
    AUTH_DATABASE_URL: database.authUrl,
    WORKERS: '2',
    LOG_LEVEL: 'error',
  });
}

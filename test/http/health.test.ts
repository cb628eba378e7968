import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('the health checks', () => {
  let database: TestDatabase;
  let service: TestService;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database);
  });

  afterAll(async () => {
    await service.stop();
    await database.drop();
  });

  it('answer 200 while the process lives', async () => {
    const response = await fetch(`${service.url}/healthz`);

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });
});

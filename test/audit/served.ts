import type { TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Runs a service for so long; what it has noted is recorded by its end. */
export async function served(database: TestDatabase, work: (service: TestService) => Promise<unknown>): Promise<void> {
  const service = await startTestService(database);
  await work(service).finally(() => service.stop());
}

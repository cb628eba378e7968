import { createTestDatabase, type TestDatabase } from './database.ts';
import { opened, takeLeftOpen } from './openThings.ts';
import { startTestService, type TestService, unthrottled } from './service.ts';

/** A service and its database. Files that change the schema or the configuration start one of their own. */
export type SharedService = Omit<TestService, 'stop'> & { readonly database: TestDatabase };

/**
 * The service and database that the test files of one Jest worker share: starting one takes longer than most files run.
 * Each file makes its own tenants, which see no other, and begins with an empty log.
 */
export async function shareService(): Promise<SharedService> {
  shared ??= start();
  const service = await shared;
  service.logs.length = 0;
  return service;
}

/** Stops it, if this process has started it; a worker of Jest ends without. */
export async function stopSharedService(): Promise<void> {
  const stopping = shared;
  shared = undefined;
  if (!stopping) return;
  const { stop, database } = await stopping;
  await stop();
  await database.drop();
}

let shared: ReturnType<typeof start> | undefined;

async function start() {
  const ofFile = takeLeftOpen();
  const database = await createTestDatabase();
  const service = await startTestService(database, unthrottled);
  // These two are not the file's; what it had opened before is.
  takeLeftOpen();
  for (const name of ofFile) opened(name);
  return { ...service, database };
}

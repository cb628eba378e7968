import { removeTestDataDirectory } from './dataDirectory.ts';
import { stopSharedService } from './sharedService.ts';

export default async function globalTeardown(): Promise<void> {
  // Started here where Jest runs the files itself, without workers.
  await stopSharedService();
  await globalThis.testPgBouncer?.stop();
  const server = globalThis.testServer;
  if (!server) return;
  await server.stop();
  await removeTestDataDirectory(server.dataDir);
  await removeTestDataDirectory(server.template);
}

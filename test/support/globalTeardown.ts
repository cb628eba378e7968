import { removeTestDataDirectory } from './dataDirectory.ts';
import { stopSharedService } from './sharedService.ts';

export default async function globalTeardown(): Promise<void> {
  // Started here where Jest runs the files itself, without workers.
  await stopSharedService();
  await globalThis.testPgBouncer?.stop();
  const servers = globalThis.testServers;
  if (!servers) return;
  await servers.stop();
  await removeTestDataDirectory(servers.template);
}

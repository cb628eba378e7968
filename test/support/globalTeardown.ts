import { removeTestDataDirectory } from './dataDirectory.ts';

export default async function globalTeardown(): Promise<void> {
  await globalThis.testPgBouncer?.stop();
  const server = globalThis.testServer;
  if (!server) return;
  await server.stop();
  await removeTestDataDirectory(server.dataDir);
}

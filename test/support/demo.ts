import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { DemoCredentials } from '../../src/provisioning/demo.ts';
import { startService } from '../../src/service.ts';
import { createTestDataDirectory, removeTestDataDirectory } from './dataDirectory.ts';
import { opened } from './openThings.ts';

export type TestDemo = { url: string; credentials: DemoCredentials; stop(): Promise<void> };

/** What `npm start` gives: the service on an embedded database of its own, with the demo organization and the explorers. */
export async function startDemo(overrides: Record<string, string> = {}): Promise<TestDemo> {
  const dataDir = await createTestDataDirectory();
  const { url, embedded, stop } = await startService(
    loadConfig({ DATA_DIR: dataDir, PORT: '0', ...overrides }, 'serve'),
    createLog('fatal'),
  );
  if (!embedded) throw new Error('The service has no embedded database.');
  const closed = opened(`demo ${url}`);
  return {
    url,
    credentials: embedded.demo,
    async stop() {
      await stop();
      await removeTestDataDirectory(dataDir);
      closed();
    },
  };
}

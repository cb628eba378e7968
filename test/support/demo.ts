import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { DemoCredentials } from '../../src/provisioning/demo.ts';
import { startService } from '../../src/service.ts';
import { createTestDataDirectory, removeTestDataDirectory } from './dataDirectory.ts';
import { opened } from './openThings.ts';

export type Demo = { url: string; credentials: DemoCredentials; stop(): Promise<void> };

/** What `npm start` gives: the service on an embedded database of its own, with the demo organization and the explorers. */
export async function startDemo(): Promise<Demo> {
  const dataDir = await createTestDataDirectory();
  const { url, embedded, stop } = await startService(
    loadConfig({ DATA_DIR: dataDir, PORT: '0' }, 'serve'),
    createLog('fatal'),
  );
  if (!embedded) throw new Error('The service has no embedded database.');
  return {
    url,
    credentials: embedded.demo,
    async stop() {
      await stop();
      await removeTestDataDirectory(dataDir);
    },
  };
}

/** The same in a test file, which fails when it does not stop it. */
export async function startTestDemo(): Promise<Demo> {
  const demo = await startDemo();
  const closed = opened(`demo ${demo.url}`);
  const stop = async () => {
    await demo.stop();
    closed();
  };
  return { ...demo, stop };
}

import { loadConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { DemoCredentials } from '../../src/provisioning/demo.ts';
import { startService } from '../../src/service/service.ts';
import { createTestDataDirectory, removeTestDataDirectory } from './dataDirectory.ts';
import { createMigratedDataDirectory } from './migratedDataDirectory.ts';
import { opened } from './openThings.ts';
import { testPasswordCost } from './passwords.ts';

export type Demo = { url: string; dataDir: string; credentials: DemoCredentials; stop(): Promise<void> };

/**
 * Starts the service as `npm start` does: on an embedded database of its own, with the demo organization and the explorers.
 * `overrides` are environment variables.
 */
export async function startDemo(
  overrides: Record<string, string> = {},
  createDataDirectory = createTestDataDirectory,
): Promise<Demo> {
  const dataDir = await createDataDirectory();
  const { url, embedded, stop } = await startService(
    loadConfig({ DATA_DIR: dataDir, PORT: '0', ...testPasswordCost, ...overrides }, 'serve'),
    createLog('fatal'),
    { isForDevelopers: true },
  );
  if (!embedded) throw new Error('The service has no embedded database.');
  return {
    url,
    dataDir,
    credentials: embedded.demo,
    async stop() {
      await stop();
      await removeTestDataDirectory(dataDir);
    },
  };
}

/** The same in a test file, which fails when it does not stop it. */
export async function startTestDemo(overrides: Record<string, string> = {}): Promise<Demo> {
  const demo = await startDemo(overrides, createMigratedDataDirectory);
  const closed = opened(`demo ${demo.url}`);
  const stop = async () => {
    await demo.stop();
    closed();
  };
  return { ...demo, stop };
}

/** An access token of the demo's `demo-backend`. */
export async function getDemoToken({ url, credentials }: Demo, scope = 'app'): Promise<string> {
  const client = { client_id: 'demo-backend', client_secret: credentials.clientSecret };
  return requestToken(url, { ...client, grant_type: 'client_credentials', scope });
}

/** An access token of a person of the demo, such as `ada@demo.test`. */
export async function getPersonsToken({ url, credentials }: Demo, username: string): Promise<string> {
  const { password } = credentials;
  return requestToken(url, { grant_type: 'password', client_id: 'demo-mobile', username, password });
}

async function requestToken(url: string, parameters: Record<string, string>): Promise<string> {
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(parameters) });
  return ((await response.json()) as { access_token: string }).access_token;
}

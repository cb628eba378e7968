import { randomBytes } from 'node:crypto';
import { createTestDataDirectory, removeTestDataDirectory } from '../../test/support/dataDirectory.ts';
import { testPasswordCost, testPasswords } from '../../test/support/passwords.ts';
import { getToken } from './getToken.ts';
import { spawnService } from './spawnService.ts';

// Read by express and PostGraphile when they are imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { loadConfig } = await import('../../src/config.ts');
const { createSecrets } = await import('../../src/crypto/secrets.ts');
const { createOwnerPool } = await import('../../src/database/pool/pools.ts');
const { createLog } = await import('../../src/log.ts');
const { applyDocument } = await import('../../src/provisioning/applyDocument.ts');
const { startService } = await import('../../src/service/service.ts');
const { startWithOneLogin } = await import('../../test/support/startWithOneLogin.ts');

/**
 * A PostgreSQL of its own, and services on it that run in this process as in production.
 * Disposing of it stops PostgreSQL: services are disposed of before.
 */
export async function startCluster() {
  await using resources = new AsyncDisposableStack();
  const key = randomBytes(32);
  const clientSecret = randomBytes(32).toString('base64url');
  const log = createLog('error');
  const dataDir = await createTestDataDirectory();
  resources.defer(() => removeTestDataDirectory(dataDir));
  const postgres = await startWithOneLogin(dataDir, log);
  resources.defer(() => postgres.stop());

  const environmentOf = (authUrl: string) => ({
    ...{ AUTH_DATABASE_URL: authUrl, SECRET_KEY: key.toString('base64') },
    ...{ THROTTLE_REQUESTS_PER_MINUTE: '1000000', ...testPasswordCost },
  });
  const withTokens = ({ url, stop }: { readonly url: string; readonly stop: () => Promise<unknown> }) => ({
    url,
    getToken: (clientId: string, person?: Record<string, string>) =>
      getToken(url, { client_id: clientId, client_secret: clientSecret }, person),
    [Symbol.asyncDispose]: async () => void (await stop()),
  });
  const started = resources.move();
  return {
    postgres,
    /** The secret of every application. */
    clientSecret,
    ownerPool: (ownerUrl = postgres.ownerUrl) => createOwnerPool(ownerUrl, log),
    async provision(organizations: readonly object[], ownerUrl = postgres.ownerUrl): Promise<void> {
      const owner = createOwnerPool(ownerUrl, log);
      const options = { secrets: createSecrets([key]), passwords: testPasswords, report: () => undefined };
      await applyDocument(owner, { organizations }, options).finally(() => owner.end());
    },
    /** Disposing of it stops it. */
    async startService(authUrl = postgres.authUrl) {
      const environment = { HOST: '127.0.0.1', PORT: '0', ...environmentOf(authUrl) };
      return withTokens(await startService(loadConfig(environment, 'serve'), log));
    },
    /** The same in a process of its own, or several. */
    startProcess: async (workers = 1) =>
      withTokens(
        await spawnService({ ...environmentOf(postgres.authUrl), LOG_LEVEL: 'error', WORKERS: String(workers) }),
      ),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

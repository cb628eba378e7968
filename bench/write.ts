import { randomBytes } from 'node:crypto';
import { sendWithToken } from './write/sendWithToken.ts';
import { timeMove } from './write/timeMove.ts';
import { timeMutations } from './write/timeMutations.ts';
import { timeSync } from './write/timeSync.ts';

/**
 * `npm run -s bench write [users]`: how long writing takes over HTTP, and beside hand-written SQL under the same policies. `usersSync` of
 * 1,000 rows, changed and unchanged, and of 100,000 users in 100 requests, in turns with one `insert … on conflict` for each 1,000. Then
 * single mutations, and a move. Exits with 1 when a bound is missed.
 */
// Read by express and PostGraphile when they are imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { loadConfig } = await import('../src/config.ts');
const { startWithOneLogin } = await import('../test/support/startWithOneLogin.ts');
const { createOwnerPool } = await import('../src/database/pool/pools.ts');
const { createLog } = await import('../src/log.ts');
const { applyDocument } = await import('../src/provisioning/applyDocument.ts');
const { createSecrets } = await import('../src/crypto/secrets.ts');
const { startService } = await import('../src/service/service.ts');
const { testPasswords } = await import('../test/support/passwords.ts');
const { createTestDataDirectory, removeTestDataDirectory } = await import('../test/support/dataDirectory.ts');
const { serveSql } = await import('./write/serveSql.ts');

const users = Number(process.argv[2] ?? 100_000);

const key = randomBytes(32);
const clientSecret = randomBytes(32).toString('base64url');
const log = createLog('error');
const dataDir = await createTestDataDirectory();
await using resources = new AsyncDisposableStack();
resources.defer(() => removeTestDataDirectory(dataDir));
const postgres = await startWithOneLogin(dataDir, log);
resources.defer(() => postgres.stop());

await provision(['ours', 'sql']);
const environment = {
  HOST: '127.0.0.1',
  PORT: '0',
  AUTH_DATABASE_URL: postgres.authUrl,
  SECRET_KEY: key.toString('base64'),
  THROTTLE_REQUESTS_PER_MINUTE: '1000000',
};
const service = await startService(loadConfig(environment, 'serve'), log);
resources.defer(() => service.stop());
const handWritten = await serveSql(postgres.authUrl);
resources.defer(handWritten.stop);

const ours = sendWithToken(`${service.url}/graphql`, await getToken('ours'));
const sql = sendWithToken(handWritten.url, await getToken('sql'));
const rows = [
  ...(await timeSync({ users, ours, sql })),
  ...(await timeMutations({ users, ours, sql })),
  ...(await timeMove({ ours, other: sendWithToken(`${service.url}/graphql`, await getToken('sql')) })),
];
console.table(rows);
process.exitCode = rows.every(({ isMet }) => isMet) ? 0 : 1;

async function provision(names: readonly string[]): Promise<void> {
  const units = ['hq', 'annex'].map((name) => ({ externalIdentifier: name, name }));
  const organizations = names.map((name) => ({ name, applications: [{ name, clientId: name, clientSecret }], units }));
  const owner = createOwnerPool(postgres.ownerUrl, log);
  const options = { secrets: createSecrets([key]), passwords: testPasswords, report: () => undefined };
  await applyDocument(owner, { organizations }, options).finally(() => owner.end());
}

async function getToken(clientId: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const response = await fetch(`${service.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await response.json()) as { access_token: string }).access_token;
}

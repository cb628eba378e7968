import { randomBytes } from 'node:crypto';
import { Client } from 'pg';

/**
 * `node bench/reads.ts`: what it costs to record reading. A person's own row and 20 units (Q1 of `bench peers`) over HTTP, 16 at a time, while
 * the reading of `app_public.users` and `app_public.units` is recorded of no, of one in a hundred, and of every statement, in turns. Exits
 * with 1 when one in a hundred costs more than 5 %.
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
const { testPasswords, testPasswordCost } = await import('../test/support/passwords.ts');
const { startLoad } = await import('./peers/load/startLoad.ts');
const { createTestDataDirectory, removeTestDataDirectory } = await import('../test/support/dataDirectory.ts');

const shares = [0, 0.01, 1];
const rounds = 12;
const seconds = 1.5;
const connections = 16;
const maxCost = 0.05;

const key = randomBytes(32);
const clientSecret = randomBytes(32).toString('base64url');
const password = randomBytes(16).toString('base64url');
const log = createLog('error');
const dataDir = await createTestDataDirectory();
const postgres = await startWithOneLogin(dataDir, log);
try {
  await provision(postgres.ownerUrl);
  const environment = {
    ...{ HOST: '127.0.0.1', PORT: '0', AUTH_DATABASE_URL: postgres.authUrl, SECRET_KEY: key.toString('base64') },
    ...{ THROTTLE_REQUESTS_PER_MINUTE: '1000000', ...testPasswordCost },
  };
  const service = await startService(loadConfig(environment, 'serve'), log);
  const rates = await measure(service.url, postgres.ownerUrl);
  await service.stop();

  const [none = 0, ...others] = rates.map((found) => median(found));
  console.table(
    rates.map((found, index) => ({
      'share that is recorded': shares[index],
      'requests per second': Math.round(median(found)),
      'of none recorded': Number((median(found) / none).toFixed(3)),
    })),
  );
  process.exitCode = (others[0] ?? 0) >= none * (1 - maxCost) ? 0 : 1;
} finally {
  await postgres.stop();
  await removeTestDataDirectory(dataDir);
}

/** Requests per second in each round, by share; in turns, so that whatever else the machine does falls on all. */
async function measure(url: string, ownerUrl: string): Promise<number[][]> {
  const owner = new Client({ connectionString: ownerUrl });
  // The database is stopped when something has failed.
  owner.on('error', () => undefined);
  await owner.connect();
  const token = await tokenOf(url);
  const order = {
    ...{ port: Number(new URL(url).port), operation: 'Q1' as const, connections, from: 0 },
    ...{
      tokens: { users: [token], applications: [], grantedEverything: token },
      size: { users: 1, unitsByDepth: [1, 40], serverSettings: {} },
    },
  };
  const load = startLoad();
  const rates: number[][] = shares.map(() => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [index, share] of shares.entries()) {
      for (const table of ['app_public.users', 'app_public.units'])
        await owner.query('select audit.record_reads($1, $2)', [table, share]);
      // Each connection plans its statements anew.
      await load.run({ ...order, seconds: seconds / 5 });
      const { latenciesMs, seconds: took } = await load.run({ ...order, seconds });
      if (round >= 0) rates[index]?.push(latenciesMs.length / took);
    }
  }
  load.stop();
  await owner.end();
  return rates;
}

async function tokenOf(url: string): Promise<string> {
  const client = { client_id: 'bench', client_secret: clientSecret };
  const form = { grant_type: 'password', ...client, username: 'u@bench.test', password };
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

async function provision(ownerUrl: string): Promise<void> {
  const owner = createOwnerPool(ownerUrl, log);
  const children = Array.from({ length: 40 }, (_, number) => ({
    externalIdentifier: `${number}`,
    name: `Unit ${number}`,
  }));
  const user = {
    externalIdentifier: 'u',
    fullName: 'User',
    email: 'u@bench.test',
    password,
    accessibleUnits: ['root'],
  };
  const application = {
    name: 'Bench',
    clientId: 'bench',
    clientSecret,
    scopes: ['me'],
    mobileApp: { authenticationType: 'password' },
  };
  const units = [{ externalIdentifier: 'root', name: 'Root', children }];
  const document = { organizations: [{ name: 'Bench', applications: [application], units, users: [user] }] };
  await applyDocument(owner, document, {
    secrets: createSecrets([key]),
    passwords: testPasswords,
    report: () => undefined,
  });
  await owner.query('vacuum analyze');
  await owner.end();
}

function median(found: readonly number[]): number {
  return [...found].sort((a, b) => a - b)[found.length >> 1] ?? 0;
}

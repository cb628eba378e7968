import { randomBytes } from 'node:crypto';

/**
 * `node bench/deep.ts`: how long 100 levels of `children` take over a chain of 100 units, over HTTP: the first time, and the
 * median of later ones. Exits with 1 when a later one takes 300 ms or more, or the deepest name is missing.
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

const levels = 100;
const limitMs = 300;
const rounds = 21;

const key = randomBytes(32);
const clientSecret = randomBytes(32).toString('base64url');
const log = createLog('error');
const dataDir = await createTestDataDirectory();
const postgres = await startWithOneLogin(dataDir, log);
try {
  await provisionChain();
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: postgres.authUrl,
    SECRET_KEY: key.toString('base64'),
  };
  const service = await startService(loadConfig(environment, 'serve'), log);
  try {
    const token = await getToken(service.url);
    const rows = [];
    for (const form of ['nodes { # }', 'edges { node { # } }']) rows.push(await time(service.url, token, form));
    console.table(rows);
    process.exitCode = rows.every((row) => row['warm ms'] < limitMs) ? 0 : 1;
  } finally {
    await service.stop();
  }
} finally {
  await postgres.stop();
  await removeTestDataDirectory(dataDir);
}

type Unit = { externalIdentifier: string; name: string; children?: Unit[] };

async function provisionChain(): Promise<void> {
  const chain = (level: number): Unit => ({
    externalIdentifier: `level-${level}`,
    name: `Level ${level}`,
    ...(level < levels && { children: [chain(level + 1)] }),
  });
  const applications = [{ name: 'Deep', clientId: 'deep', clientSecret }];
  const document = { organizations: [{ name: 'Deep', applications, units: [chain(1)] }] };
  const owner = createOwnerPool(postgres.ownerUrl, log);
  await applyDocument(owner, document, {
    secrets: createSecrets([key]),
    passwords: testPasswords,
    report: () => undefined,
  });
  await owner.end();
}

async function getToken(url: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: 'deep', client_secret: clientSecret };
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function time(url: string, token: string, form: string) {
  let selection = 'name';
  for (let level = levels; level > 1; level--) selection = `name children { ${form.replace('#', selection)} }`;
  const body = JSON.stringify({ query: `{ app { rootUnits { nodes { ${selection} } } } }` });
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

  const times = [];
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now();
    const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    if (!(await response.text()).includes(`"Level ${levels}"`)) throw new Error(`Level ${levels} is missing`);
    times.push(performance.now() - start);
  }
  const [first = 0, ...later] = times;
  const warm = later.sort((a, b) => a - b)[rounds >> 1] ?? 0;
  return { form: form.replace('#', '…'), levels, 'first ms': Math.round(first), 'warm ms': Math.round(warm) };
}

import { randomBytes } from 'node:crypto';
import { Client, type Pool } from 'pg';

/**
 * `node bench/audit.ts [changes …]`: what the history costs, and how it grows. `userCreate` over HTTP against two equal services on one
 * PostgreSQL, one of whose databases records nothing, in turns; how long 20,000 users take to provision, with and without; and how long twelve
 * questions of an auditor and a purge take beside 100,000 people and so many changes (1,000,000 and 10,000,000 unless it is told). Exits with
 * 1 when the history costs `userCreate` more than 15 %, or provisioning more than 40 %; when `audit.who_can` of a unit takes more than 3 s;
 * or when a purge holds its lock for more than a tenth of a second.
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
const { table } = await import('../src/commands/audit/markdown.ts');
const { measureGrowth } = await import('./audit/measureGrowth.ts');

const rounds = 1000;
const users = 20_000;
const provisionings = 3;
const limits = { userCreate: 1.15, provisioning: 1.4, whoCanMs: 3000, purgeMs: 100 };
const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000_000, 10_000_000];

/** Takes the triggers of the history away. */
const forget = `
  do $$
  declare
    recording record;
  begin
    for recording in select tgname, tgrelid::regclass as relation from pg_trigger where tgname like 'audit\\_%' loop
      execute format('drop trigger %I on %s', recording.tgname, recording.relation);
    end loop;
  end
  $$`;

const key = randomBytes(32);
const clientSecret = randomBytes(32).toString('base64url');
const log = createLog('error');
const dataDir = await createTestDataDirectory();
const postgres = await startWithOneLogin(dataDir, log);
try {
  const database = (name: string) => ({ owner: at(postgres.ownerUrl, name), auth: at(postgres.authUrl, name) });
  await asOwner(at(postgres.ownerUrl, 'postgres'), 'create database recording template graph_query_service');
  await asOwner(at(postgres.ownerUrl, 'postgres'), 'create database plain template graph_query_service');
  await asOwner(at(postgres.ownerUrl, 'postgres'), 'create database grown template graph_query_service');
  await asOwner(at(postgres.ownerUrl, 'plain'), forget);

  const provisioning = await timeProvisioning(database('recording').owner, database('plain').owner);
  const userCreate = await timeUserCreate(database('recording').auth, database('plain').auth);
  console.table([userCreate, provisioning]);
  const affordable = userCreate.ratio <= limits.userCreate && provisioning.ratio <= limits.provisioning;
  process.exitCode = (await showGrowth(database('grown').owner)) && affordable ? 0 : 1;
} finally {
  await postgres.stop();
  await removeTestDataDirectory(dataDir);
}

/** @returns whether it is fast enough at every size */
async function showGrowth(ownerUrl: string): Promise<boolean> {
  const owner = createOwnerPool(ownerUrl, log);
  const grown = await measureGrowth(owner, sizes).finally(() => owner.end());
  const names = [...(grown[0]?.times.keys() ?? [])];
  const rows = names.map((name) => ({
    'ms, by changes': name,
    ...Object.fromEntries(grown.map(({ changes, times }) => [`${changes / 1e6} million`, format(times.get(name))])),
  }));
  console.log(table(rows, ''));
  return grown.every(({ times }) =>
    names.every((name) => {
      const time = times.get(name) ?? Number.POSITIVE_INFINITY;
      // The file system frees a month when PostgreSQL has committed and released its locks.
      if (name.endsWith('with its commit')) return true;
      return name.startsWith('Purge')
        ? time <= limits.purgeMs
        : !name.includes('this unit?') || time <= limits.whoCanMs;
    }),
  );
}

function format(ms = 0): string {
  return ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en');
}

/** In turns, so that whatever else the machine does falls on both; the median of each. */
async function timeUserCreate(recordingUrl: string, plainUrl: string) {
  const [recording, plain] = [await startCreating(recordingUrl), await startCreating(plainUrl)];
  const times: { recording: number[]; plain: number[] } = { recording: [], plain: [] };
  for (let round = -200; round < rounds; round++) {
    const pair = [recording.create(round), plain.create(round)] as const;
    // One after the other: both at once would share the processor.
    const first = round % 2 === 0 ? ['recording', 'plain'] : ['plain', 'recording'];
    for (const name of first as ('recording' | 'plain')[]) {
      const time = await (name === 'recording' ? pair[0]() : pair[1]());
      if (round >= 0) times[name].push(time);
    }
  }
  await recording.stop();
  await plain.stop();
  return compared('userCreate over HTTP', 'ms', median(times.recording), median(times.plain));
}

async function startCreating(authUrl: string) {
  const environment = {
    HOST: '127.0.0.1',
    PORT: '0',
    AUTH_DATABASE_URL: authUrl,
    SECRET_KEY: key.toString('base64'),
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
  };
  const service = await startService(loadConfig(environment, 'serve'), log);
  const form = { grant_type: 'client_credentials', client_id: 'bench', client_secret: clientSecret };
  const response = await fetch(`${service.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await response.json()) as { access_token: string };
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const query = `mutation($email: String!) { userCreate(fullName: "Ada Lovelace", email: $email) { user { id } } }`;
  const create = (round: number) => async () => {
    const body = JSON.stringify({ query, variables: { email: `round${round}@bench.test` } });
    const start = performance.now();
    const answer = await fetch(`${service.url}/graphql`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (!text.includes('"id"')) throw new Error(text);
    return performance.now() - start;
  };
  return { create, stop: () => service.stop() };
}

/** Each time into an organization of its own; the best of each. */
async function timeProvisioning(recordingUrl: string, plainUrl: string) {
  const pools = { recording: createOwnerPool(recordingUrl, log), plain: createOwnerPool(plainUrl, log) };
  const best = { recording: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < provisionings; turn++) {
    for (const name of ['recording', 'plain'] as const) {
      const start = performance.now();
      await provision(pools[name], turn);
      best[name] = Math.min(best[name], (performance.now() - start) / 1000);
    }
  }
  await pools.recording.end();
  await pools.plain.end();
  return compared(`provisioning ${users} users`, 's', best.recording, best.plain);
}

async function provision(owner: Pool, turn: number): Promise<void> {
  const people = Array.from({ length: users }, (_, number) => ({
    externalIdentifier: `user-${number}`,
    fullName: `User ${number}`,
    email: `user-${number}@bench.test`,
  }));
  const applications = turn === 0 ? [{ name: 'Bench', clientId: 'bench', clientSecret }] : [];
  const document = { organizations: [{ name: `Bench ${turn}`, applications, users: people }] };
  await applyDocument(owner, document, {
    secrets: createSecrets([key]),
    passwords: testPasswords,
    report: () => undefined,
  });
}

function compared(what: string, unit: string, recording: number, plain: number) {
  return {
    what,
    'with history': `${recording.toFixed(2)} ${unit}`,
    'without history': `${plain.toFixed(2)} ${unit}`,
    ratio: Number((recording / plain).toFixed(3)),
  };
}

function median(times: number[]): number {
  return times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
}

function at(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

async function asOwner(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

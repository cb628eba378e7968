import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { findInstallation } from '../../src/database/embedded/postgresInstallation.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';
import { createTenantWithSecret } from './support/tenant.ts';
import { startWriters } from './support/writers.ts';

const kills = 20;

let dataDir: string;
let service: TestProcess;
let ownerUrl: string;
let owner: Pool;
beforeAll(async () => {
  dataDir = await createTestDataDirectory();
  service = startProcess([], {
    PATH: process.env.PATH ?? '',
    PORT: '0',
    DATA_DIR: dataDir,
    WORKERS: '2',
    THROTTLE_REQUESTS_PER_MINUTE: '1000000',
  });
  await service.says('Graph Query Service: http');
  ownerUrl = (await findEmbeddedPostgres(dataDir, createLog('error')))?.ownerUrl ?? '';
  owner = new Pool({ connectionString: ownerUrl, max: 2 });
  // It is killed along with the others.
  owner.on('error', () => undefined);
}, 60_000);
afterAll(async () => {
  await owner.end();
  service.signal('SIGTERM');
  await service.exited;
  await removeTestDataDirectory(dataDir);
});

test('what was acknowledged is there after 20 kills of PostgreSQL at random moments, and nothing is half there', async () => {
  const tenant = await createTenantWithSecret(owner);
  const writers = startWriters(() => addressOf(service), tenant, 16);
  await until(() => writers.acknowledged > 100);

  const outages: { readonly awayMs: number; readonly recoveredMs: number }[] = [];
  for (let kill = 0; kill < kills; kill++) {
    await delay(randomInt(50, 1000));
    // By turns the server itself and one of its sessions, which makes it end all others and recover.
    const victim = await (kill % 2 === 0 ? postmasterPid() : sessionPid());
    const witness = await connect();
    const ended = new Promise((resolve) => witness.once('end', resolve));
    process.kill(victim, 'SIGKILL');
    await ended;
    const goneAt = performance.now();
    await until(
      async () =>
        !!(await connect().then(
          (client) => client.end().then(() => true),
          () => false,
        )),
    );
    const backAt = performance.now();
    const before = writers.acknowledged;
    await until(() => writers.acknowledged > before);
    outages.push({ awayMs: backAt - goneAt, recoveredMs: performance.now() - backAt });
  }
  await writers.stop();

  const found = await writers.findings(owner);
  expect(found).toMatchObject({ lost: [], halfThere: [] });
  expect(found.users).toBeGreaterThan(100);
  expect(service.running).toBe(true);
  const longest = (of: 'awayMs' | 'recoveredMs') => Math.round(Math.max(...outages.map((outage) => outage[of])));
  expect(longest('recoveredMs')).toBeLessThan(2000);
  console.log(
    `${kills} kills of PostgreSQL: ${found.users} users, ${found.deletions} deletions and ${found.tokens} tokens were acknowledged;`,
    `it was away for ${longest('awayMs')} ms at most, and written to ${longest('recoveredMs')} ms later at most`,
  );
}, 300_000);

async function postmasterPid(): Promise<number> {
  const { cluster } = await findInstallation(dataDir, createLog('error'));
  return Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0]);
}

/** One of the sessions that serve requests. */
async function sessionPid(): Promise<number> {
  let pid: number | undefined;
  await until(async () => {
    const { rows } = await owner.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'graph-query-service' order by random() limit 1`,
    );
    pid = rows[0]?.pid;
    return pid !== undefined;
  });
  // Without a session the loop above would have failed: 0 would be everybody.
  return pid ?? Number.NaN;
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: ownerUrl });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

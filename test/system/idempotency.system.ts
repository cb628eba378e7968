import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { findInstallation } from '../../src/database/embedded/postgresInstallation.ts';
import { createLog } from '../../src/log.ts';
import { define } from '../generation/doors.ts';
import { createTenant, type Tenant } from '../graphql/support.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { until } from '../support/until.ts';
import { addressOf, workersOf } from '../support/workers.ts';

const kills = 50;
const writers = 8;

let dataDir: string;
let service: TestProcess;
let owner: Pool;
let tenant: Tenant;
beforeAll(async () => {
  dataDir = await createTestDataDirectory();
  service = await start();
  const ownerUrl = (await findEmbeddedPostgres(dataDir, createLog('error')))?.ownerUrl ?? '';
  owner = new Pool({ connectionString: ownerUrl, max: 2 });
  // It is killed along with the others.
  owner.on('error', () => undefined);
  await owner.query(tally);
  tenant = await createTenant({ database: { owner } });
  service.signalGroup('SIGKILL');
  await service.exited;
  service = await start();
}, 60_000);
afterAll(async () => {
  await owner.end();
  service.signal('SIGTERM');
  await service.exited;
  await removeTestDataDirectory(dataDir);
});

/** A change that nothing but its idempotency key keeps from being made twice. */
const tally = `
  create table app_hidden.tallies (organization_id uuid not null, name text not null);
  grant insert on app_hidden.tallies to graph_app;
  ${define(
    'tally(name text)',
    `returns void language sql volatile as $$
       insert into app_hidden.tallies values (app_hidden.current_organization_id(), name) $$`,
    '@mutation\nCounts.',
  )}`;

const document = `mutation ($name: String!, $email: String!) {
  tally(name: $name) { ok }
  userCreate(fullName: $name, email: $email) { user { id createdAs: email } }
  userDelete(externalIdentifier: $name) { user { id } }
}`;

test('through 50 kills each change is made once, and each repeated answer is the first, byte for byte', async () => {
  const answered = new Map<string, string>();
  const differing: string[] = [];
  const outcomes = new Map<string, number>();
  const count = (outcome: string) => outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  let isWriting = true;

  /** Repeats the request until it has an answer. */
  const send = async (name: string): Promise<string> => {
    for (;;) {
      const { status, text, isReplayed } = await post(name);
      const code = status === 200 && text.includes('"data":null') ? 'failed for now' : status;
      count(`${isReplayed ? 'replayed ' : ''}${code}`);
      if (code === 200) return text;
      // Leaves the machine to what is starting.
      await delay(code === 'none' ? 200 : randomInt(5, 50));
    }
  };
  const write = async () => {
    const name = randomUUID();
    // By several connections at once, as clients do that do not wait for the first.
    const texts = await Promise.all(Array.from({ length: randomInt(1, 4) }, () => send(name)));
    const [first = ''] = texts;
    if (texts.some((text) => text !== first)) differing.push(name);
    answered.set(name, first);
    const earlier = [...answered.keys()][randomInt(answered.size)] ?? name;
    if ((await send(earlier)) !== answered.get(earlier)) differing.push(earlier);
  };
  const writing = Promise.all(
    Array.from({ length: writers }, async () => {
      while (isWriting) await write();
    }),
  );

  await until(() => answered.size > 20);
  for (let kill = 0; kill < kills; kill++) {
    const before = answered.size;
    await delay(randomInt(10, 400));
    await [killService, killWorker, killPostgres][kill % 3]?.();
    await until(() => answered.size > before);
  }
  isWriting = false;
  await writing;
  for (const [name, first] of answered) if ((await send(name)) !== first) differing.push(name);

  const { rows } = await owner.query<{ name: string; times: number }>(
    'select name, count(*)::int as times from app_hidden.tallies group by name',
  );
  expect(rows.filter(({ times }) => times !== 1)).toEqual([]);
  expect(rows.map(({ name }) => name).sort()).toEqual([...answered.keys()].sort());
  const users = await owner.query('select full_name as name from app_public.users where organization_id = $1', [
    tenant.organizationId,
  ]);
  expect(users.rows.map(({ name }) => name).sort()).toEqual([...answered.keys()].sort());
  expect(differing).toEqual([]);
  for (const text of answered.values()) expect(text).toMatch(/^\{"data":\{"tally":\{"ok":true\}.*"NOT_FOUND"/);
  expect([...outcomes.keys()].filter((outcome) => !expected.includes(outcome))).toEqual([]);
  console.log(`${kills} kills: ${answered.size} changes, each made once; answers: ${JSON.stringify([...outcomes])}`);
}, 600_000);

const expected = ['200', 'replayed 200', '409', '503', 'failed for now', 'none'];

async function post(name: string) {
  const headers = {
    Authorization: `Bearer ${tenant.app}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': name,
  };
  const body = JSON.stringify({ query: document, variables: { name, email: `${name}@writers.test` } });
  try {
    // A connection that was about to be handed to a worker when it was killed is never answered.
    const signal = AbortSignal.timeout(5000);
    const response = await fetch(`${addressOf(service)}/graphql`, { method: 'POST', headers, body, signal });
    const isReplayed = response.headers.get('Idempotency-Replayed') === 'true';
    return { status: response.status, text: await response.text(), isReplayed };
  } catch {
    // Nothing was there, or it went away meanwhile, or took too long.
    return { status: 'none', text: '', isReplayed: false };
  }
}

async function killService(): Promise<void> {
  service.signalGroup('SIGKILL');
  await service.exited;
  service = await start();
}

async function killWorker(): Promise<void> {
  const [victim] = await workersOf(service);
  if (victim) process.kill(victim, 'SIGKILL');
}

async function killPostgres(): Promise<void> {
  const { cluster } = await findInstallation(dataDir, createLog('error'));
  const pid = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  // 0 would be the whole group.
  if (pid > 1) process.kill(pid, 'SIGKILL');
}

async function start(): Promise<TestProcess> {
  const started = startProcess([], {
    PATH: process.env.PATH ?? '',
    PORT: '0',
    DATA_DIR: dataDir,
    WORKERS: '2',
    LOG_LEVEL: 'error',
  });
  await started.says('Graph Query Service: http');
  return started;
}

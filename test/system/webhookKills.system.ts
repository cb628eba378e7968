/** Webhooks, while the processes that send them are killed: none is lost, all in order, and no more repeated than must be. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mutating } from '../graphql/mutating.ts';
import {
  createTenant,
  createUser,
  globalId,
  type OwnGraphTest,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver, verified } from '../webhooks/receiver.ts';

const kills = 20;
/** A run takes a second of it, so that the other worker soon takes over. */
const leaseMs = 6000;

let graph: OwnGraphTest;
let receivers: Receiver[];
let stop: () => Promise<void> = async () => undefined;
beforeAll(async () => {
  graph = await startGraphTest({ WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  receivers = await Promise.all(Array.from({ length: 6 }, startReceiver));
});
afterAll(async () => {
  await stop();
  for (const receiver of receivers) await receiver.stop();
  await graph.stop();
});

test('twenty kills of two workers lose no change and leave first attempts in order', async () => {
  const tenants = [await createTenant(graph), await createTenant(graph)];
  const hooks = await Promise.all(receivers.map((receiver, n) => createHook(tenants[n % 2] as Tenant, receiver)));
  const receipts = () => hooks.reduce((sum, { attempts }) => sum + attempts.length, 0);
  const writers = startWriters(tenants, receipts);
  const workers = [startWorker(), startWorker()];
  stop = async () => {
    await writers.stop();
    await Promise.all(workers.map(async (worker) => kill(await worker)));
  };
  /** When each began, and when its victims had ended and all that they had sent was read. */
  const killed: { readonly since: number; readonly until: number }[] = [];

  while (killed.length < kills) {
    const before = receipts();
    await until(() => receipts() > before + 20);
    // Every fifth time both at once, so that nobody is left.
    const indices = killed.length % 5 === 4 ? [0, 1] : [killed.length % 2];
    const victims = await Promise.all(indices.map((index) => workers[index]));
    await delay(randomInt(200));
    const since = performance.now();
    await Promise.all(victims.map(kill));
    killed.push({ since, until: performance.now() + 1000 });
    for (const index of indices) workers[index] = startWorker();
  }
  await writers.stop();
  const { owner } = graph.database;
  await until(async () => {
    const { rows } = await owner.query(
      "select count(*)::int as n from app_public.webhook_deliveries where outcome = 'DELIVERED'",
    );
    return rows[0].n === writers.written() * 3;
  });
  await stop();

  let repeated = 0;
  let retried = 0;
  for (const { tenant, attempts } of hooks) {
    const { rows } = await owner.query<{ key: string[] }>(
      'select key from feed.changes where organization_id = $1 order by horizon, id',
      [tenant.organizationId],
    );
    const firsts = attempts.filter(({ id }, index) => attempts.findIndex((other) => other.id === id) === index);
    expect(firsts.map(({ user }) => user)).toEqual(rows.map(({ key: [uuid = ''] }) => globalId('User', uuid)));
    expect(new Set(firsts.map(({ user }) => user)).size).toBe(firsts.length);

    // A kill explains at most one repetition of a webhook, which has one attempt at a time.
    const unused = new Set(killed);
    for (const [index, { id, at }] of attempts.entries()) {
      const before = attempts.slice(0, index).findLast((other) => other.id === id);
      if (!before) continue;
      const cause = [...unused].find(({ since, until }) => until >= before.at && since <= at);
      if (before.status >= 300) retried++;
      else {
        if (!cause) throw new Error(`${id} came at ${before.at} and ${at}; kills: ${JSON.stringify(killed)}`);
        unused.delete(cause);
        repeated++;
      }
    }
  }
  console.log(
    `${kills} kills: ${writers.written() * 3} deliveries, ${repeated} repeated after a kill, ${retried} retried`,
  );
  expect(repeated).toBeLessThan(kills * hooks.length);
  expect(retried).toBeGreaterThan(0);
}, 900_000);

type Attempted = { readonly id: string; readonly user: string; readonly at: number; readonly status: number };

/** A webhook whose receiver takes its time, and refuses one delivery of fifty the first time. */
async function createHook(tenant: Tenant, receiver: Receiver) {
  const { secret } = (await mutating(graph, tenant)('webhookCreate', { url: receiver.url }, 'secret')) as {
    secret: string;
  };
  const attempts: Attempted[] = [];
  receiver.answer = (request, response) => {
    const delivery = receiver.received.at(-1);
    if (!delivery) throw new Error('nothing was received');
    const id = String(request.headers['webhook-id']);
    const isFirst = !attempts.some((attempt) => attempt.id === id);
    const status = isFirst && randomInt(50) === 0 ? 500 : 204;
    attempts.push({ id, user: verified(secret, delivery).data.id, at: performance.now(), status });
    setTimeout(() => response.writeHead(status).end(), randomInt(10));
  };
  return { tenant, attempts };
}

/** No more than the workers send, which processes that start keep from their cores. */
function startWriters(tenants: readonly Tenant[], receipts: () => number) {
  let isWriting = true;
  let written = 0;
  const writing = tenants.flatMap((tenant) =>
    [1, 2].map(async () => {
      while (isWriting) {
        if (written * 3 < receipts() + 200) {
          await createUser(tenant);
          written++;
        }
        await delay(randomInt(150));
      }
    }),
  );
  return {
    written: () => written,
    async stop() {
      isWriting = false;
      await Promise.all(writing);
    },
  };
}

const script = fileURLToPath(new URL('../webhooks/workerProcess.ts', import.meta.url));

async function startWorker(): Promise<ChildProcess> {
  const worker = fork(script, [graph.database.authUrl, testSecretKey, String(leaseMs)]);
  const [message] = await once(worker, 'message');
  if (message !== 'sending') throw new Error('It said something else');
  return worker;
}

async function kill(worker: ChildProcess | undefined): Promise<void> {
  if (!worker || worker.exitCode !== null || worker.signalCode !== null) return;
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
}

import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { settled } from '../graphql/changes/feed.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant, createUser, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { startProcess } from '../support/process.ts';
import { startTestService, testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { idsOf, type Receiver, startReceiver } from './receiver.ts';
import { countDeliveries, startTestWorker, untilDelivered } from './worker.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
let receiver: Receiver;
beforeAll(async () => {
  graph = await startGraphTest({ WEBHOOK_PRIVATE_ADDRESSES: 'true' });
});
afterAll(() => graph.stop());
beforeEach(async () => {
  tenant = await createTenant(graph);
  receiver = await startReceiver();
});
afterEach(async () => {
  await graph.database.owner.query('delete from app_public.webhooks');
  await receiver.stop();
});

const create = (url = receiver.url, of = tenant) => mutating(graph, of)('webhookCreate', { url }, 'secret');
const count = (condition: string) => countDeliveries(graph.database, condition);
const delivered = (wanted: number) => untilDelivered(graph.database, wanted);

test('two workers deliver each change once', async () => {
  const others = [await startReceiver(), await startReceiver()];
  const workers = [await startTestWorker(graph.database), await startTestWorker(graph.database)];
  try {
    for (const { url } of [receiver, ...others]) await create(url);
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 6 }, () => createUser(tenant)));
    await delivered(90);

    for (const { received } of [receiver, ...others]) expect(received).toHaveLength(30);
    expect(new Set([receiver, ...others].flatMap(idsOf)).size).toBe(90);
    for (const { logs } of workers) expect(logs).toEqual([]);
  } finally {
    for (const worker of workers) await worker.stop();
    for (const other of others) await other.stop();
  }
});

test('a receiver that says nothing does not hold up the others', async () => {
  const silent = await startReceiver();
  silent.answer = () => undefined;
  const worker = await startTestWorker(graph.database);
  try {
    await Promise.all(Array.from({ length: 19 }, () => create(silent.url)));
    await createUser(tenant);
    await silent.first(19);
    const neighbour = await createTenant(graph);
    await create(receiver.url, neighbour);

    const since = performance.now();
    await createUser(neighbour);
    await receiver.first(1);
    expect(performance.now() - since).toBeLessThan(2500);
  } finally {
    for (const response of silent.received) expect(response.body).toContain('user.created');
    await silent.stop();
    await worker.stop();
  }
});

test('`npm run worker` delivers; killed before it can record that, the change is delivered once more', async () => {
  const environment = {
    AUTH_DATABASE_URL: graph.database.authUrl,
    SECRET_KEY: testSecretKey,
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    PATH: process.env.PATH ?? '',
  };
  await create();
  const killed = startProcess(['worker'], environment);
  await killed.says('sending webhooks');
  receiver.answer = () => killed.signal('SIGKILL');
  await createUser(tenant);
  expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
  receiver.answer = 204;
  expect(await count("outcome = 'PENDING' and attempts = 0")).toBe(1);

  // Its lease, which lasts a minute.
  await graph.database.owner.query('update app_hidden.webhook_positions set leased_until = statement_timestamp()');
  const successor = startProcess(['worker'], environment);
  await delivered(1);
  successor.signal('SIGTERM');
  expect(await successor.exited).toMatchObject({ code: 0 });
  const [first, second] = idsOf(receiver);
  expect([second, receiver.received.length]).toEqual([first, 2]);
});

test('a worker that stops finishes its attempt, or leaves it to another', async () => {
  let pending: ServerResponse | undefined;
  receiver.answer = (_request, response) => {
    pending = response;
  };
  await create();
  await createUser(tenant);
  const stopping = await startTestWorker(graph.database);
  await until(() => pending !== undefined);
  const stopped = stopping.stop();
  pending?.writeHead(200).end();
  await stopped;
  expect(await count("outcome = 'DELIVERED'")).toBe(1);

  pending = undefined;
  await createUser(tenant);
  const abandoning = await startTestWorker(graph.database);
  await until(() => pending !== undefined);
  await abandoning.stop();
  expect(await count("outcome = 'PENDING' and attempts = 0")).toBe(1);
  receiver.answer = 200;
  const next = await startTestWorker(graph.database);
  await delivered(2);
  await next.stop();
  const [, abandoned, again] = idsOf(receiver);
  expect(again).toBe(abandoned);
}, 30_000);

test('a worker that loses its connections goes on', async () => {
  const worker = await startTestWorker(graph.database);
  try {
    await create();
    await createUser(tenant);
    await delivered(1);
    for (let round = 0; round < 10; round++) {
      await createUser(tenant);
      // What was sent and not recorded waits for the end of the lease.
      await graph.database.owner.query('update app_hidden.webhook_positions set leased_until = null');
      await graph.database.owner.query(
        `select pg_sleep(random() / 50), pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name = 'graph-query-service'`,
      );
    }
    await graph.database.owner.query('update app_hidden.webhook_positions set leased_until = null');
    await delivered(11);
    expect(new Set(idsOf(receiver)).size).toBe(11);
  } finally {
    await worker.stop();
  }
});

test('a worker whose statements fail goes on when they work again', async () => {
  const { owner } = graph.database;
  const worker = await startTestWorker(graph.database);
  const failures = ['could not send a webhook', 'could not look for webhooks to send; trying again'];
  await create();
  const rights = [
    'update (leased_until) on app_hidden.webhook_positions',
    'execute on function feed.due_webhooks(int)',
  ];
  for (const [index, right] of rights.entries()) {
    await owner.query(`revoke ${right} from graph_worker`);
    try {
      await createUser(tenant);
      await until(() => worker.logs.some((line) => line.includes(failures[index] ?? '')));
    } finally {
      await owner.query(`grant ${right} to graph_worker`);
    }
    await createUser(tenant);
    await delivered(2 * (index + 1));
  }
  await worker.stop();
  expect(worker.logs.filter((line) => !failures.some((failure) => line.includes(failure)))).toEqual([]);
});

test('webhooks take turns: the one whose last run ended first is first', async () => {
  const { owner } = graph.database;
  for (let made = 0; made < 4; made++) await create();
  await createUser(tenant);
  await settled(tenant);
  const { rows: made } = await owner.query('select webhook_id as id from app_hidden.webhook_positions order by 1');
  const ids = made.map(({ id }) => id as string);
  const endedBefore = async (id: string | undefined, interval: string) =>
    owner.query(
      'update app_hidden.webhook_positions set leased_until = statement_timestamp() - $2::interval where webhook_id = $1',
      [id, interval],
    );
  await endedBefore(ids[0], '1 minute');
  await endedBefore(ids[1], '2 minutes');
  await endedBefore(ids[2], '-1 minute');

  const { rows } = await owner.query('select webhook_id as id from feed.due_webhooks(10)');

  expect(rows.map(({ id }) => id)).toEqual([ids[3], ids[1], ids[0]]);
});

test('the service itself delivers, unless it is told not to', async () => {
  const service = await startTestService(graph.database, { WEBHOOK_WORKER: 'true', WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  try {
    await create();
    await createUser(tenant);
    await delivered(1);
  } finally {
    await service.stop();
  }
  const silent = await startTestService(graph.database, { WEBHOOK_WORKER: 'true', WEBHOOKS: 'off' });
  await createUser(tenant);
  await setTimeout(1500);
  await silent.stop();
  expect(await count('true')).toBe(1);
  await settled(tenant);
  type Data = { app: { changes: { nodes: unknown[] } } };
  const { app } = await read<Data>(graph, tenant.app, '{ app { changes { nodes { id } } } }');
  expect(app.changes.nodes).toHaveLength(2);
});

test('what is older than the feed keeps is purged, and no younger delivery', async () => {
  const worker = await startTestWorker(graph.database);
  await create();
  await createUser(tenant);
  await createUser(tenant);
  await delivered(2);
  await worker.stop();
  const { owner } = graph.database;
  await owner.query(
    `update app_public.webhook_deliveries set changed_at = changed_at - feed.retention()
     where id = (select id from app_public.webhook_deliveries order by id limit 1)`,
  );
  type Data = { app: { webhooks: { nodes: { deliveries: { nodes: { change: object | null }[] } }[] } } };
  const { app } = await read<Data>(
    graph,
    tenant.app,
    '{ app { webhooks { nodes { deliveries { nodes { change { id } } } } } } }',
  );
  const shown = app.webhooks.nodes.flatMap(({ deliveries: { nodes } }) => nodes.map(({ change }) => change === null));
  expect(shown).toEqual([true, false]);

  await owner.query(`select oauth.purge_rows('deliveries', 1000)`);

  expect(await count('true')).toBe(1);
});

test('after a restore a webhook goes on with what is written then', async () => {
  await create();
  await graph.database.owner.query('update app_hidden.webhook_positions set origin = origin + 1, horizon = $1', [
    '999999999',
  ]);
  await createUser(tenant);
  const worker = await startTestWorker(graph.database);
  try {
    await delivered(1);
    expect(receiver.received).toHaveLength(1);
  } finally {
    await worker.stop();
  }
});

test('with a secret that no key opens nothing is sent, and the client reads why', async () => {
  await create();
  const worker = await startTestWorker(graph.database, { keys: [Buffer.alloc(32).toString('base64')] });
  try {
    await createUser(tenant);
    await until(async () => (await count('attempts = 1')) === 1);
    expect(await count("last_error = 'The secret cannot be opened any more; rotate it.'")).toBe(1);
    expect(worker.logs.some((line) => line.includes('does not open under SECRET_KEY'))).toBe(true);
    expect(receiver.received).toEqual([]);
  } finally {
    await worker.stop();
  }
});

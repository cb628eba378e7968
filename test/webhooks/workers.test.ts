import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { settled } from '../graphql/changes/feed.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant, createUser, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { startProcess } from '../support/process.ts';
import { startTestService, testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { startTestWorker, type TestWorker } from './worker.ts';

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
const idsOf = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id']);
const count = async (condition: string) => {
  const { rows } = await graph.database.owner.query(
    `select count(*)::int as found from app_public.webhook_deliveries where ${condition}`,
  );
  return rows[0].found as number;
};
const delivered = (wanted: number) => until(async () => (await count("outcome = 'DELIVERED'")) === wanted);

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

describe('a transaction of a client that is open', () => {
  /** It has begun after these changes, since the feed ends at the oldest open transaction. */
  let client: PoolClient;
  let worker: TestWorker | undefined;
  beforeEach(async () => {
    await create();
    for (let count = 0; count < 2; count++) await createUser(tenant);
    await settled(tenant);
    client = await graph.database.owner.connect();
    await client.query('begin');
  });
  afterEach(async () => {
    await client.query('rollback');
    client.release();
    await worker?.stop();
    expect(worker?.logs).toEqual([]);
  });

  test('holds up no delivery of the webhook that it changes', async () => {
    await client.query('update app_public.webhooks set type_names = null');

    receiver.answer = (_request, response) => {
      receiver.answer = 410;
      response.writeHead(204).end();
    };
    worker = await startTestWorker(graph.database);
    await delivered(1);
    await until(async () => (await count('status_code = 410')) === 1);

    // Its client may give the webhook another URL, so that it is not disabled yet.
    expect(await count("outcome = 'PENDING' and attempts = 1")).toBe(1);
    await client.query('commit');
    await graph.database.owner.query(
      "update app_public.webhook_deliveries set next_attempt_at = statement_timestamp() where outcome = 'PENDING'",
    );
    await until(async () => (await count("outcome = 'FAILED'")) === 1);
    const { rows } = await graph.database.owner.query('select enabled from app_public.webhooks');
    expect(rows).toEqual([{ enabled: false }]);
  });

  test('that deletes a webhook holds up no worker, and nothing is lost when it is rolled back', async () => {
    const { owner } = graph.database;
    await client.query('rollback');
    const neighbour = await createTenant(graph);
    await create(receiver.url, neighbour);
    await createUser(neighbour);
    await settled(neighbour);
    await client.query('begin');
    await client.query('delete from app_public.webhooks where organization_id = $1', [tenant.organizationId]);

    worker = await startTestWorker(graph.database);
    await delivered(1);
    const { rowCount } = await owner.query(
      'select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0',
    );
    await client.query('rollback');
    await delivered(3);

    expect([rowCount, receiver.received.length]).toEqual([0, 3]);
  });

  test('that has sent again what is being sent does so once it commits', async () => {
    let answer = () => undefined as unknown;
    receiver.answer = (_request, response) => {
      answer = () => response.writeHead(204).end();
    };
    worker = await startTestWorker(graph.database);
    const [sent] = await receiver.first(1);
    await until(async () => (await count('true')) === 2);
    await client.query(
      `update app_public.webhook_deliveries set attempts = 0, first_attempt_at = null, next_attempt_at = statement_timestamp()
       where id = (select id from app_public.webhook_deliveries order by id limit 1)`,
    );
    receiver.answer = 204;
    answer();

    await delivered(1);
    expect(receiver.received).toHaveLength(2);
    await client.query('commit');
    await delivered(2);

    const [, , again] = idsOf(receiver);
    expect([again, receiver.received.length]).toEqual([sent?.headers['webhook-id'], 3]);
  });
});

test('a client changes a webhook while it is being sent, and what its old URL answers then disables nothing', async () => {
  const { webhook } = (await mutating(graph, tenant)('webhookCreate', { url: receiver.url }, 'webhook { id }')) as {
    webhook: { id: string };
  };
  let answer = () => undefined as unknown;
  receiver.answer = (_request, response) => {
    answer = () => response.writeHead(410).end();
  };
  const worker = await startTestWorker(graph.database);
  try {
    await createUser(tenant);
    await receiver.first(1);
    const url = receiver.url.replace('from=test', 'from=another');

    const changed = await mutating(graph, tenant)('webhookUpdate', { id: webhook.id, url }, 'webhook { url enabled }');
    answer();
    await until(async () => (await count('attempts = 1')) === 1);

    expect(changed).toEqual({ webhook: { url, enabled: true } });
    expect(await count("outcome = 'PENDING' and status_code = 410")).toBe(1);
    receiver.answer = 204;
    await createUser(tenant);
    await delivered(1);
  } finally {
    await worker.stop();
  }
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

  await owner.query('select oauth.purge_deliveries(1000)');

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

test('graph_worker reads and writes what it needs and nothing else', async () => {
  const { owner } = graph.database;
  const { rows } = await owner.query(
    `select c.oid::regclass::text as name, array_agg(distinct p order by p) as privileges
     from pg_class c cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate']) as p
     where c.relkind in ('r', 'p', 'v') and c.relnamespace::regnamespace::text !~ '^(pg_|information_schema)'
       and (has_table_privilege('graph_worker', c.oid, p) or p in ('select', 'insert', 'update') and has_any_column_privilege('graph_worker', c.oid, p))
     group by c.oid order by 1`,
  );
  expect(rows).toEqual([
    { name: 'app_hidden.webhook_charge', privileges: ['select'] },
    { name: 'app_hidden.webhook_positions', privileges: ['select', 'update'] },
    { name: 'app_public.webhook_deliveries', privileges: ['insert', 'select', 'update'] },
    { name: 'app_public.webhooks', privileges: ['select', 'update'] },
    { name: 'feed.changes', privileges: ['select'] },
  ]);
});

import type { PoolClient } from 'pg';
import { settled } from '../graphql/changes/feed.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant, createUser, type OwnGraphTest, startGraphTest, type Tenant } from '../graphql/support.ts';
import { until } from '../support/until.ts';
import { idsOf, type Receiver, startReceiver } from './receiver.ts';
import { countDeliveries, startTestWorker, type TestWorker, untilDelivered } from './worker.ts';

// Webhooks and deliveries that clients change while a worker sends them.

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

import { settled as changesSettled } from '../graphql/changes/feed.ts';
import { type Mutate, mutating } from '../graphql/mutating.ts';
import { createTenant, createUser, type OwnGraphTest, read, startGraphTest, type Tenant } from '../graphql/support.ts';
import { until } from '../support/until.ts';
import { type Created, readDeliveries, released, untilSettled } from './deliveries.ts';
import { type Receiver, startReceiver, verified } from './receiver.ts';
import { startTestWorker, type TestWorker } from './worker.ts';

// Attempts after each answer of a receiver, and while a webhook is changed.

let graph: OwnGraphTest;
let tenant: Tenant;
let receiver: Receiver;
let mutate: Mutate;
let worker: TestWorker;
beforeAll(async () => {
  graph = await startGraphTest({ WEBHOOK_PRIVATE_ADDRESSES: 'true' });
  worker = await startTestWorker(graph.database);
});
afterAll(async () => {
  await worker.stop();
  await graph.stop();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
  receiver = await startReceiver();
});
afterEach(async () => {
  await graph.database.owner.query('delete from app_public.webhooks where organization_id = $1', [
    tenant.organizationId,
  ]);
  await receiver.stop();
});

const create = async (args: object = {}) =>
  (await mutate('webhookCreate', { url: receiver.url, ...args }, 'secret webhook { id enabled }')) as Created;

const deliveries = (args = '') => readDeliveries(graph, tenant, args);
const settled = (count: number, outcome: string) => untilSettled(graph, tenant, count, outcome);
/** Resolves after so many attempts, and has the next one wait for an hour more: on a slow machine, a test could meet it. */
const attempted = (attempts: number) =>
  until(async () => {
    const { rowCount } = await graph.database.owner.query(
      `update app_public.webhook_deliveries set next_attempt_at = next_attempt_at + interval '1 hour'
       where organization_id = $1 and attempts = $2`,
      [tenant.organizationId, attempts],
    );
    return rowCount === 1;
  });
const isReleased = () => released(tenant);
const isDueNow = () =>
  graph.database.owner.query(
    `update app_public.webhook_deliveries set next_attempt_at = statement_timestamp()
     where organization_id = $1 and outcome = 'PENDING'`,
    [tenant.organizationId],
  );

test('a failure is attempted again, with the same id, and later changes need not wait for that', async () => {
  const { secret } = await create();
  receiver.answer = 500;
  await createUser(tenant);
  await attempted(1);
  const [failed] = await deliveries();
  expect(failed).toMatchObject({
    ...{ outcome: 'PENDING', statusCode: 500, lastError: 'The receiver answered with status 500.' },
    nextAttemptAt: expect.any(String),
  });
  // The attempt is over when its end is recorded, by which the wait is counted.
  const { rows } = await graph.database.owner.query(
    `select next_attempt_at - first_attempt_at >= interval '1 hour 5 seconds' as waits
     from app_public.webhook_deliveries where organization_id = $1`,
    [tenant.organizationId],
  );
  expect(rows).toEqual([{ waits: true }]);

  receiver.answer = 200;
  await createUser(tenant);
  const [first, second] = await receiver.first(2);
  expect(second?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
  await isDueNow();
  const [, , again] = await receiver.first(3);

  expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(again?.body).toBe(first?.body);
  if (again) verified(secret, again);
  await settled(2, 'DELIVERED');
});

test('after three days it is a dead letter, which a client finds and has delivered again', async () => {
  await create();
  receiver.answer = 503;
  await createUser(tenant);
  await attempted(1);
  const { owner } = graph.database;
  const age = (interval: string) =>
    owner.query(
      `update app_public.webhook_deliveries
       set first_attempt_at = first_attempt_at - $2::interval, next_attempt_at = statement_timestamp()
       where organization_id = $1`,
      [tenant.organizationId, interval],
    );
  await age('2 days');
  await attempted(2);
  expect(await deliveries('(outcome: FAILED)')).toEqual([]);
  await age('1 day');
  await settled(1, 'FAILED');

  const [letter] = await deliveries('(outcome: FAILED, first: 10)');
  expect(letter).toMatchObject({ attempts: 3, nextAttemptAt: null, statusCode: 503, outcome: 'FAILED' });
  expect(await deliveries('(outcome: PENDING)')).toEqual([]);
  receiver.answer = 200;
  const again = await mutate('webhookRedeliver', { deliveryId: letter?.id }, 'webhookDelivery { id outcome attempts }');
  expect(again).toEqual({ webhookDelivery: { id: letter?.id, outcome: 'PENDING', attempts: 0 } });
  await settled(1, 'DELIVERED');
  expect(receiver.received).toHaveLength(4);
});

test('a receiver that is gone (410) disables the webhook; enabled again, it goes on where it was', async () => {
  const { webhook } = await create();
  receiver.answer = 410;
  await createUser(tenant);
  await settled(1, 'FAILED');
  await createUser(tenant);
  const enabled = async () =>
    (
      await read<{ node: { enabled: boolean } }>(
        graph,
        tenant.app,
        'query ($id: ID!) { node(id: $id) { ... on Webhook { enabled } } }',
        { id: webhook.id },
      )
    ).node.enabled;
  expect(await enabled()).toBe(false);

  receiver.answer = 200;
  expect(await mutate('webhookUpdate', { id: webhook.id, enabled: true }, 'webhook { enabled }')).toEqual({
    webhook: { enabled: true },
  });
  await settled(1, 'DELIVERED');
  expect(receiver.received).toHaveLength(2);
});

test('a redirect is not followed', async () => {
  await create();
  receiver.answer = 307;
  await createUser(tenant);
  await attempted(1);

  expect((await deliveries())[0]).toMatchObject({
    statusCode: 307,
    lastError: 'The receiver answered with status 307; redirects are not followed.',
  });
  expect(receiver.received).toHaveLength(1);
});

describe('while a webhook is sent, from one delivery to the next', () => {
  /** Several changes, which are sent in one run; `meanwhile` is done before the first of them is answered. */
  const sendThree = async (webhook: Created['webhook'], meanwhile: () => Promise<unknown>) => {
    const update = (enabled: boolean) => mutate('webhookUpdate', { id: webhook.id, enabled }, 'webhook { enabled }');
    await update(false);
    for (let count = 0; count < 3; count++) await createUser(tenant);
    await changesSettled(tenant);
    receiver.answer = (_request, response) => {
      receiver.answer = 204;
      void meanwhile().then(() => response.writeHead(204).end());
    };
    await update(true);
    await receiver.first(1);
  };

  test('it is disabled', async () => {
    const { webhook } = await create();

    await sendThree(webhook, () => mutate('webhookUpdate', { id: webhook.id, enabled: false }, 'webhook { enabled }'));
    await settled(1, 'DELIVERED');
    await isReleased();

    expect([receiver.received.length, (await deliveries('(outcome: PENDING)')).length]).toEqual([1, 2]);
    await mutate('webhookUpdate', { id: webhook.id, enabled: true }, 'webhook { enabled }');
    await settled(3, 'DELIVERED');
  });

  test('it is deleted', async () => {
    const { webhook } = await create();

    await sendThree(webhook, () => mutate('webhookDelete', { id: webhook.id }, 'webhook { id }'));
    await until(async () => (await deliveries()).length === 0);
    await create();
    await createUser(tenant);
    await settled(1, 'DELIVERED');

    expect(receiver.received).toHaveLength(2);
    expect(worker.logs).toEqual([]);
  });

  test('its secret is rotated', async () => {
    const { webhook, secret } = await create();
    let rotated = '';

    await sendThree(webhook, async () => {
      ({ secret: rotated } = (await mutate('webhookRotateSecret', { id: webhook.id }, 'secret')) as Created);
    });
    const [before, ...after] = await receiver.first(3);

    if (before) verified(secret, before);
    expect(after).toHaveLength(2);
    for (const delivery of after) for (const either of [secret, rotated]) verified(either, delivery);
  });
});

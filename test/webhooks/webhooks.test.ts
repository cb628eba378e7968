import { settled as changesSettled } from '../graphql/changes/feed.ts';
import { type Mutate, mutating, unknownId } from '../graphql/mutating.ts';
import {
  ask,
  createTenant,
  createUser,
  createViewer,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { until } from '../support/until.ts';
import { type Receiver, startReceiver, verified } from './receiver.ts';
import { startTestWorker, type TestWorker } from './worker.ts';

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

type Created = { webhook: { id: string; enabled: boolean }; secret: string };
const create = async (args: object = {}) =>
  (await mutate('webhookCreate', { url: receiver.url, ...args }, 'secret webhook { id enabled }')) as Created;

type Delivery = {
  id: string;
  outcome: string;
  attempts: number;
  statusCode: number | null;
  lastError: string | null;
  nextAttemptAt: string | null;
  change: { typeName: string; operation: string; id: string; cursor: string } | null;
};
const deliveries = async (args = '') => {
  const fields = 'id outcome attempts statusCode lastError nextAttemptAt change { typeName operation id cursor }';
  const query = `{ app { webhooks { nodes { deliveries${args} { nodes { ${fields} } } } } } }`;
  type Data = { app: { webhooks: { nodes: { deliveries: { nodes: Delivery[] } }[] } } };
  const { app } = await read<Data>(graph, tenant.app, query);
  return app.webhooks.nodes.flatMap(({ deliveries: { nodes } }) => nodes);
};
const settled = (count: number, outcome: string) =>
  until(async () => (await deliveries()).filter((delivery) => delivery.outcome === outcome).length === count);
const attempted = (attempts: number) => until(async () => (await deliveries())[0]?.attempts === attempts);
/** The worker no longer holds the webhook as it has read it. */
const isReleased = () =>
  until(async () => {
    const { rows } = await graph.database.owner.query(
      'select coalesce(leased_until <= statement_timestamp(), true) as done from app_hidden.webhook_positions where organization_id = $1',
      [tenant.organizationId],
    );
    return rows[0]?.done ?? true;
  });
const isDueNow = () =>
  graph.database.owner.query(
    `update app_public.webhook_deliveries set next_attempt_at = statement_timestamp()
     where organization_id = $1 and outcome = 'PENDING'`,
    [tenant.organizationId],
  );

test('a change is delivered, signed as Standard Webhooks say', async () => {
  const { secret, webhook } = await create();
  expect(secret).toMatch(/^whsec_[\w+/]{32}$/);
  const { id } = await createUser(tenant, { fullName: 'Ada' });

  const [delivery] = await receiver.first(1);
  if (!delivery) throw new Error('nothing came');
  const payload = verified(secret, delivery);
  expect(payload).toEqual({
    type: 'user.created',
    timestamp: expect.any(String),
    data: { operation: 'CREATE', typeName: 'User', id, fields: [], cursor: expect.any(String) },
  });
  expect(delivery.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': expect.any(String) });
  expect(() => verified(`whsec_${'A'.repeat(32)}`, delivery)).toThrow('No matching signature found');

  await settled(1, 'DELIVERED');
  const [shown] = await deliveries();
  expect(shown).toEqual({
    ...{ id: delivery.headers['webhook-id'], outcome: 'DELIVERED', attempts: 1, statusCode: 204 },
    ...{ lastError: null, nextAttemptAt: null },
    change: { typeName: 'User', operation: 'CREATE', id, cursor: payload.data.cursor },
  });
  expect(await read(graph, tenant.app, 'query ($id: ID!) { node(id: $id) { id } }', { id: webhook.id })).toEqual({
    node: { id: webhook.id },
  });
});

test('what refers to others names them, when it is deleted, too', async () => {
  const { id: userId } = await createUser(tenant);
  const made = (await mutate('unitCreate', { name: 'Floor' }, 'unit { id }')) as { unit: { id: string } };
  const { secret } = await create({ typeNames: ['AccessGrant'] });
  await mutate('accessGrant', { userId, unitId: made.unit.id }, 'accessGrant { id }');
  await mutate('accessRevoke', { userId, unitId: made.unit.id }, 'accessGrant { id }');

  const received = await receiver.first(2);

  const told = received.map((delivery) => verified(secret, delivery).data);
  const relatedIds = [userId, made.unit.id].sort();
  expect(told.map((data) => [data.operation, data.relatedIds?.toSorted()])).toEqual([
    ['CREATE', relatedIds],
    ['DELETE', relatedIds],
  ]);
});

test('what was before the webhook is not delivered, nor what is of other types', async () => {
  const before = await createUser(tenant);
  await create({ typeNames: ['Unit'] });
  await createUser(tenant);
  await mutate('unitCreate', { name: 'Floor' }, 'unit { id }');

  await settled(1, 'DELIVERED');
  expect((await deliveries()).map(({ change }) => change?.typeName)).toEqual(['Unit']);
  const { rows } = await graph.database.owner.query(
    "select count(*)::int as users from feed.changes where organization_id = $1 and relation = 'app_public.users'",
    [tenant.organizationId],
  );
  expect([before.id, rows]).toEqual([expect.any(String), [{ users: 2 }]]);
});

test('first attempts are in the order of the feed', async () => {
  await create();
  const users = await Promise.all(Array.from({ length: 40 }, () => createUser(tenant)));

  const received = await receiver.first(users.length);

  const sent = received.map(({ body }) => JSON.parse(body).data);
  type Data = { app: { changes: { nodes: { id: string; cursor: string }[] } } };
  const feed = await read<Data>(graph, tenant.app, '{ app { changes(first: 1000) { nodes { id cursor } } } }');
  expect(sent.map(({ id, cursor }) => ({ id, cursor }))).toEqual(feed.app.changes.nodes);
});

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
  const waitMs = Date.parse(failed?.nextAttemptAt ?? '') - Date.now();
  expect(waitMs).toBeGreaterThan(1000);
  expect(waitMs).toBeLessThan(6001);

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

test('after a rotation both secrets verify, and a day later the new one alone', async () => {
  const { webhook, secret: old } = await create();
  const rotated = (await mutate('webhookRotateSecret', { id: webhook.id }, 'secret webhook { id }')) as Created;
  expect(rotated.webhook.id).toBe(webhook.id);
  await createUser(tenant);
  const [both] = await receiver.first(1);
  if (!both) throw new Error('nothing came');
  verified(old, both);
  verified(rotated.secret, both);
  await settled(1, 'DELIVERED');
  await isReleased();

  await graph.database.owner.query(
    "update app_public.webhooks set previous_valid_until = statement_timestamp() - interval '1 s' where organization_id = $1",
    [tenant.organizationId],
  );
  await createUser(tenant);
  const [, one] = await receiver.first(2);
  if (!one) throw new Error('nothing came');
  verified(rotated.secret, one);
  expect(() => verified(old, one)).toThrow('No matching signature found');
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

test('secrets are at rest sealed for their webhook alone, and never in the log or the history', async () => {
  const { secret } = await create();
  await createUser(tenant);
  await settled(1, 'DELIVERED');

  const { rows } = await graph.database.owner.query(
    'select secret_ciphertext as sealed from app_public.webhooks where organization_id = $1',
    [tenant.organizationId],
  );
  expect(rows[0].sealed.includes(Buffer.from(secret))).toBe(false);
  const { rows: history } = await graph.database.owner.query(
    'select to_jsonb(c)::text as text from audit.changes c where organization_id = $1',
    [tenant.organizationId],
  );
  expect(history.some(({ text }) => text.includes('app_public.webhooks'))).toBe(true);
  const told = [...graph.logs, ...worker.logs, ...history.map(({ text }) => text)].join('\n');
  expect(told).not.toContain(secret.slice(6));
  expect(told).not.toContain(rows[0].sealed.toString('hex'));
});

test('only an application of the organization sees and changes webhooks', async () => {
  const { webhook } = await create();
  await createUser(tenant);
  await settled(1, 'DELIVERED');
  const [delivery] = await deliveries();
  const other = await createTenant(graph);
  const { token: person } = await createViewer(tenant);
  const byId = 'query ($ids: [ID!]!) { a: node(id: "ID0") { id } b: node(id: "ID1") { id } }';

  for (const [token, code] of [
    [other.app, 'NOT_FOUND'],
    [person, 'FORBIDDEN'],
    [tenant.basic, 'FORBIDDEN'],
  ] as const) {
    const query = byId
      .replace('($ids: [ID!]!) ', '')
      .replace('ID0', webhook.id)
      .replace('ID1', delivery?.id ?? '');
    expect((await ask(graph, token, query)).body).toEqual({ data: { a: null, b: null } });
    const attempts: [string, object, string][] = [
      ['webhookUpdate', { id: webhook.id, enabled: false }, 'webhook { id }'],
      ['webhookRotateSecret', { id: webhook.id }, 'secret'],
      ['webhookRedeliver', { deliveryId: delivery?.id }, 'webhookDelivery { id }'],
      ['webhookDelete', { id: webhook.id }, 'webhook { id }'],
    ];
    for (const [field, args, selection] of attempts)
      expect([field, await mutate(field, args, selection, token)]).toEqual([field, { code }]);
    if (code === 'FORBIDDEN')
      expect(await mutate('webhookCreate', { url: receiver.url }, 'secret', token)).toEqual({ code });
  }
  expect(await read(graph, other.app, '{ app { webhooks { totalCount } } }')).toEqual({
    app: { webhooks: { totalCount: 0 } },
  });
  expect(await mutate('webhookDelete', { id: webhook.id }, 'webhook { id }')).toEqual({ webhook: { id: webhook.id } });
  expect(await mutate('webhookDelete', { id: webhook.id }, 'webhook { id }')).toEqual({ code: 'NOT_FOUND' });
});

test('arguments are checked, and twenty webhooks are an organization’s most', async () => {
  const bad = (argument: string) => ({ code: 'BAD_USER_INPUT', argument });
  const unknown = 'mutation { webhookCreate(url: "https://example.com", typeNames: [Webhook]) { secret } }';
  expectRefused(await ask(graph, tenant.app, unknown), 400, { code: 'GRAPHQL_VALIDATION_FAILED' });
  expect(await create({ typeNames: [] })).toEqual(bad('typeNames'));
  expect(await create({ url: `http://127.0.0.1/${'x'.repeat(2000)}` })).toEqual(bad('url'));
  const { webhook } = await create({ typeNames: ['User', 'NfcCard', 'User'] });
  const update = (args: object) =>
    mutate('webhookUpdate', { id: webhook.id, ...args }, 'webhook { url typeNames enabled }');
  expect(await update({ url: null })).toEqual(bad('url'));
  expect(await update({ enabled: null })).toEqual(bad('enabled'));
  expect(await update({ url: 'ftp://example.com' })).toEqual(bad('url'));
  expect(await update({})).toEqual({ webhook: { url: receiver.url, typeNames: ['User', 'NfcCard'], enabled: true } });
  expect(await update({ typeNames: null, enabled: false })).toEqual({
    webhook: { url: receiver.url, typeNames: null, enabled: false },
  });
  for (const type of ['Webhook', 'User']) {
    const id = unknownId(type);
    expect(await mutate('webhookUpdate', { id }, 'webhook { id }')).toEqual({ code: 'NOT_FOUND' });
    expect(await mutate('webhookRotateSecret', { id }, 'secret')).toEqual({ code: 'NOT_FOUND' });
  }

  const redeliver = (type: string) =>
    mutate('webhookRedeliver', { deliveryId: unknownId(type) }, 'webhookDelivery { id }');
  expect(await redeliver('WebhookDelivery')).toEqual({ code: 'NOT_FOUND' });
  expect(await redeliver('Webhook')).toEqual(bad('deliveryId'));

  const made = await Promise.all(Array.from({ length: 25 }, () => create({ typeNames: ['Unit'] })));
  expect(made.filter((one) => 'secret' in one)).toHaveLength(19);
  expect(made.filter((one) => !('secret' in one))).toEqual(Array(6).fill({ code: 'CONFLICT' }));
});

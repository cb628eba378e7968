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
import { type Created, readDeliveries, released, untilSettled } from './deliveries.ts';
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

const create = async (args: object = {}) =>
  (await mutate('webhookCreate', { url: receiver.url, ...args }, 'secret webhook { id enabled }')) as Created;

const deliveries = (args = '') => readDeliveries(graph, tenant, args);
const settled = (count: number, outcome: string) => untilSettled(graph, tenant, count, outcome);
const isReleased = () => released(tenant);

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

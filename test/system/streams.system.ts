import { createConnection } from 'node:net';
import { openStream } from '../graphql/changes/eventStream.ts';
import { present } from '../graphql/changes/feed.ts';
import { createTenant, type OwnGraphTest, startGraphTest, type Tenant } from '../graphql/support.ts';
import { until } from '../support/until.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest();
  tenant = await createTenant(graph);
});
afterAll(() => graph.stop());

test('a stream without changes has a comment every 15 s, by which proxies keep it open', async () => {
  const stream = await openStream(graph, tenant.app);
  const openedAt = Date.now();

  expect(await stream.next()).toEqual({ id: null, event: ':', data: '' });
  expect(Date.now() - openedAt).toBeLessThan(16_000);
  stream.close();
});

test('a stream whose client does not read is cut off, and the others go on', async () => {
  const { hostname, port } = new URL(graph.url);
  const slow = createConnection({ host: hostname, port: Number(port) });
  const query = 'subscription ($after: Cursor) { changes(after: $after) { cursor at id again: id oncemore: cursor } }';
  const body = JSON.stringify({
    query: query.replace('subscription', 'subscription Slow'),
    variables: { after: await present(graph, tenant) },
  });
  slow.write(
    `POST /graphql HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${tenant.app}\r\nAccept: text/event-stream\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => slow.once('readable', resolve));
  const quick = await openStream(graph, tenant.app, { query });

  // More than what the operating system keeps for a connection.
  await graph.database.owner.query(
    `insert into app_public.cards (organization_id, type, name)
     select $1, 'IdentificationCode', n::text from generate_series(1, 15000) as n`,
    [tenant.organizationId],
  );
  expect(await quick.changes(15_000)).toHaveLength(15_000);
  await until(() => graph.logs.some((line) => line.includes('"operation":"Slow"')));

  await graph.database.owner.query(
    `insert into app_public.cards (organization_id, type, name) values ($1, 'IdentificationCode', 'last')`,
    [tenant.organizationId],
  );
  expect(await quick.changes(1)).toHaveLength(1);
  quick.close();
  slow.destroy();
});

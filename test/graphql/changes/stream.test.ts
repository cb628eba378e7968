import { shareService } from '../../support/sharedService.ts';
import { type Mutate, mutating } from '../mutating.ts';
import { createTenant, createUser, type GraphTest, type Tenant } from '../support.ts';
import { openStream } from './eventStream.ts';
import { type Change, createUnits, follow, inShort, present, readPage, settled } from './feed.ts';

let graph: GraphTest;
let tenant: Tenant;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
});

describe('a stream', () => {
  it('tells of each change after it was opened, with its cursor as the id of the event', async () => {
    await createUnits(mutate, 1);
    await settled(tenant);
    const stream = await openStream(graph, tenant.app);
    expect(stream.status).toBe(200);
    expect(stream.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');

    await mutate('unitCreate', { name: 'HQ', externalIdentifier: 'hq' }, 'unit { id }');
    await mutate('unitUpdate', { externalIdentifier: 'hq', name: 'Headquarters' }, 'unit { id }');
    await mutate('unitDelete', { externalIdentifier: 'hq' }, 'unit { id }');
    const events = [await stream.next(), await stream.next(), await stream.next()];
    stream.close();

    const changes = events.map((event) => JSON.parse(event?.data ?? '{}').data.changes);
    expect(changes.map(inShort)).toEqual(['CREATE Unit', 'UPDATE Unit name', 'DELETE Unit']);
    expect(events.map((event) => event?.id)).toEqual(changes.map(({ cursor }) => cursor));
  });

  it('of some types tells of these alone', async () => {
    await settled(tenant);
    const query = `subscription { changes(typeNames: [User]) { operation typeName fields } }`;
    const stream = await openStream(graph, tenant.app, { query });

    await createUnits(mutate, 3);
    await createUser(tenant);
    await createUnits(mutate, 2);
    await mutate('userCreate', { fullName: 'Last', email: 'last@acme.test' }, 'user { id }');
    const changes = await stream.changes(2);
    stream.close();

    expect(changes.map(inShort)).toEqual(['CREATE User', 'CREATE User']);
  });

  it('begins after a cursor, and misses nothing between the past and the present', async () => {
    const start = await present(graph, tenant);
    await createUnits(mutate, 5, 'Before');
    const writing = createUnits(mutate, 20, 'During');
    const stream = await openStream(graph, tenant.app, { variables: { after: start } });

    const changes = await stream.changes(25);
    stream.close();
    await writing;

    expect(changes.map(({ id }) => id)).toEqual((await follow(graph, tenant, start)).map(({ id }) => id));
  });

  it('goes on after Last-Event-ID, whatever `after` says', async () => {
    const start = await present(graph, tenant);
    await createUnits(mutate, 3);
    const [, second, third] = await follow(graph, tenant, start);
    const headers = { 'Last-Event-ID': second?.cursor ?? '' };
    const stream = await openStream(graph, tenant.app, { variables: { after: start }, headers });

    expect((await stream.changes(1)).map(({ id }) => id)).toEqual([third?.id]);
    stream.close();
  });

  it('tells all streams of an organization, and no other organization, though the owner sees both', async () => {
    const other = await createTenant(graph);
    const streams = await Promise.all(Array.from({ length: 16 }, () => openStream(graph, tenant.app)));
    const foreign = await openStream(graph, other.app);

    await createUnits(mutate, 3);
    await mutating(graph, other)('unitCreate', { name: 'Theirs' }, 'unit { id }');

    const told = await Promise.all(streams.map(async (stream) => (await stream.changes(3)).map(({ id }) => id)));
    expect(new Set(told.map(String)).size).toBe(1);
    const [theirs] = await foreign.changes(1);
    expect(told[0]).not.toContain(theirs?.id);
    const { rows } = await graph.database.owner.query(
      'select organization_id, count(*)::int from feed.changes where organization_id = any ($1) group by 1 order by 2',
      [[tenant.organizationId, other.organizationId]],
    );
    expect(rows).toEqual([
      { organization_id: other.organizationId, count: 1 },
      { organization_id: tenant.organizationId, count: 3 },
    ]);
    for (const stream of [...streams, foreign]) stream.close();
  });

  it('shows of a change what the selection asks for, as it is now', async () => {
    const stream = await openStream(graph, tenant.app, {
      query: 'subscription { told: changes { node { ... on User { fullName cardAssignments { card { name } } } } } }',
    });
    await createUser(tenant, { fullName: 'Ada' });

    let event = await stream.next();
    // Other tests' transactions may hold the feed back for longer than the time between two comments.
    while (event?.event === ':') event = await stream.next();
    stream.close();

    expect(JSON.parse(event?.data ?? '')).toEqual({
      data: { told: { node: { fullName: 'Ada', cardAssignments: [] } } },
    });
  });

  it('holds back what is behind an open transaction, and then tells it in order', async () => {
    const stream = await openStream(graph, tenant.app);
    const client = await graph.database.owner.connect();
    let came = false;
    let changes: Promise<Change[]>;
    try {
      await client.query('begin');
      await client.query(
        `insert into app_public.cards (organization_id, type, name) values ($1, 'IdentificationCode', 'first')`,
        [tenant.organizationId],
      );
      await createUnits(mutate, 2);
      changes = stream.changes(3).finally(() => {
        came = true;
      });
      expect((await readPage(graph, tenant)).nodes).toEqual([]);
      expect(came).toBe(false);
      await client.query('commit');
    } finally {
      await client.query('rollback');
      client.release();
    }

    expect((await changes).map(({ id }) => id)).toEqual((await follow(graph, tenant)).map(({ id }) => id));
    stream.close();
  });
});

test('a query is answered by an event, if its client takes nothing else', async () => {
  const stream = await openStream(graph, tenant.app, { query: '{ app { name } }' });

  expect(await stream.rest()).toEqual([
    { id: null, event: 'next', data: '{"data":{"app":{"name":"Acme Backend"}}}' },
    { id: null, event: 'complete', data: '' },
  ]);
});

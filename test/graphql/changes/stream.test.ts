import { createToken, hashToken } from '../../../src/token/format.ts';
import { shareService } from '../../support/sharedService.ts';
import { until } from '../../support/until.ts';
import { type Mutate, mutating } from '../mutating.ts';
import {
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  startGraphTest,
  type Tenant,
} from '../support.ts';
import { openStream, type StreamRequest } from './eventStream.ts';
import { altered, type Change, follow, inShort, present, readPage, settled, unkeyed } from './feed.ts';

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

const createUnits = async (count: number, name = 'Unit') => {
  for (let number = 0; number < count; number++)
    await mutate('unitCreate', { name: `${name} ${number}` }, 'unit { id }');
};

describe('a stream', () => {
  it('tells of each change after it was opened, with its cursor as the id of the event', async () => {
    await createUnits(1);
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

    await createUnits(3);
    await createUser(tenant);
    await createUnits(2);
    await mutate('userCreate', { fullName: 'Last', email: 'last@acme.test' }, 'user { id }');
    const changes = await stream.changes(2);
    stream.close();

    expect(changes.map(inShort)).toEqual(['CREATE User', 'CREATE User']);
  });

  it('begins after a cursor, and misses nothing between the past and the present', async () => {
    const start = await present(graph, tenant);
    await createUnits(5, 'Before');
    const writing = createUnits(20, 'During');
    const stream = await openStream(graph, tenant.app, { variables: { after: start } });

    const changes = await stream.changes(25);
    stream.close();
    await writing;

    expect(changes.map(({ id }) => id)).toEqual((await follow(graph, tenant, start)).map(({ id }) => id));
  });

  it('goes on after Last-Event-ID, whatever `after` says', async () => {
    const start = await present(graph, tenant);
    await createUnits(3);
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

    await createUnits(3);
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
      await createUnits(2);
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

describe('a stream ends', () => {
  it('when its token is revoked, within 5 s, and others go on', async () => {
    const token = createToken('access');
    await graph.database.owner.query(
      `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
       select organization_id, $1, grant_id, scopes, now(), expires_at from oauth.access_tokens where token_hash = $2`,
      [hashToken(token), hashToken(tenant.app)],
    );
    const revoked = await openStream(graph, token);
    const other = await openStream(graph, tenant.app);

    const revokedAt = Date.now();
    await graph.database.owner.query('delete from oauth.access_tokens where token_hash = $1', [hashToken(token)]);
    expect(await revoked.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);

    expect(Date.now() - revokedAt).toBeLessThan(5000);
    await createUnits(1);
    expect(await other.changes(1)).toHaveLength(1);
    other.close();
  });

  it('when the schema is built anew, and goes on with its last cursor; and when the server stops, which waits for nothing', async () => {
    const own = await startGraphTest();
    const theirs = await createTenant(own);
    const stream = await openStream(own, theirs.app);
    await createUnit(theirs);
    const [last] = await stream.changes(1);

    await own.reload();
    expect(await stream.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);

    const unit = await createUnit(theirs);
    const resumed = await openStream(own, theirs.app, { headers: { 'Last-Event-ID': last?.cursor ?? '' } });
    expect((await resumed.changes(1)).map(({ id }) => id)).toEqual([unit.id]);
    const stopping = own.stop();
    expect(await resumed.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);
    await stopping;
  });

  it('before an event whose object the database does not answer, so that none is passed over', async () => {
    const start = await present(graph, tenant);
    const { fullName } = await createUser(tenant);
    await settled(tenant);
    const query = 'subscription ($after: Cursor) { changes(after: $after) { node { ... on User { fullName } } } }';
    const client = await graph.database.owner.connect();
    try {
      await client.query('begin; lock table app_public.users in access exclusive mode');
      const stream = await openStream(graph, tenant.app, { query, variables: { after: start } });
      await until(async () => {
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and pg_backend_pid() = any (pg_blocking_pids(pid))`,
        );
        return rowCount === 1;
      });
      expect(await stream.rest()).toEqual([{ id: null, event: 'complete', data: '' }]);
    } finally {
      await client.query('rollback');
      client.release();
    }

    const again = await openStream(graph, tenant.app, { query, variables: { after: start } });
    expect(await again.changes(1)).toEqual([{ node: { fullName } }]);
    again.close();
  });

  it('when its client goes, and makes room for another one', async () => {
    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(graph, tenant.app)));
    const refused = await openStream(graph, tenant.app);
    expect(streams.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect({ status: refused.status, retryAfter: refused.headers.get('Retry-After') }).toEqual({
      status: 429,
      retryAfter: '5',
    });
    const elsewhere = await openStream(graph, (await createTenant(graph)).app);
    expect(elsewhere.status).toBe(200);

    streams[0]?.close();
    await until(async () => {
      const next = await openStream(graph, tenant.app);
      streams.push(next);
      return next.status === 200;
    });
    for (const stream of [...streams, elsewhere]) stream.close();
  });

  it('before it begins when its client goes while the token is verified, and takes no room', async () => {
    const client = await graph.database.owner.connect();
    const closing = new AbortController();
    const requests = () => graph.logs.filter((line) => line.includes('request ended by the client')).length;
    const before = requests();
    try {
      await client.query('begin; lock table oauth.access_tokens in access exclusive mode');
      const gone = openStream(graph, tenant.app, { signal: closing.signal });
      await until(async () => {
        const { rows } = await client.query(
          'select from pg_stat_activity where pg_backend_pid() = any (pg_blocking_pids(pid))',
        );
        return rows.length > 0;
      });
      closing.abort();
      await expect(gone).rejects.toThrow('abort');
      await until(() => requests() > before);
    } finally {
      await client.query('rollback');
      client.release();
    }

    const streams = await Promise.all(Array.from({ length: 50 }, () => openStream(graph, tenant.app)));
    expect(streams.map(({ status }) => status)).toEqual(Array(50).fill(200));
    for (const stream of streams) stream.close();
  });
});

describe('a subscription is refused', () => {
  const answer = async (token: string, request: StreamRequest) => {
    const stream = await openStream(graph, token, request);
    const text = stream.headers.get('Content-Type')?.startsWith('text/event-stream')
      ? (await stream.rest()).map(({ event, data }) => [event, data && JSON.parse(data).errors?.[0].extensions.code])
      : null;
    if (!text) stream.close();
    return { status: stream.status, events: text };
  };
  const refusedInStream = (code: string) => ({
    status: 200,
    events: [
      ['next', code],
      ['complete', ''],
    ],
  });

  it("to a person's token and to a basic one", async () => {
    const viewer = await createViewer(tenant);

    expect(await answer(viewer.token, {})).toEqual(refusedInStream('FORBIDDEN'));
    expect(await answer(tenant.basic, {})).toEqual(refusedInStream('FORBIDDEN'));
  });

  it('with a cursor of another organization, of before a restore, or of long ago, and not with its own', async () => {
    await createUnits(1);
    const own = await present(graph, tenant);
    const foreign = await present(graph, await createTenant(graph));
    const dayMs = 86_400_000;

    expect(await answer(tenant.app, { variables: { after: foreign } })).toEqual(refusedInStream('BAD_USER_INPUT'));
    for (const after of [
      unkeyed(own),
      altered(own, () => ({ origin: '1' })),
      altered(own, ({ atMs }) => ({ atMs: atMs - 32 * dayMs })),
      altered(own, ({ horizon }) => ({ horizon: String(BigInt(horizon) + 1_000_000n) })),
    ])
      expect(await answer(tenant.app, { variables: { after } })).toEqual(refusedInStream('CURSOR_EXPIRED'));
    expect(await answer(tenant.app, { headers: { 'Last-Event-ID': unkeyed(own) } })).toEqual(
      refusedInStream('CURSOR_EXPIRED'),
    );
    const stream = await openStream(graph, tenant.app, { variables: { after: own } });
    await createUnits(1);
    expect(await stream.changes(1)).toHaveLength(1);
    stream.close();
  });

  const selecting = (selection: string): StreamRequest => ({
    query: `subscription { changes { node { ... on Unit { ${selection} } } } }`,
  });
  const some = (count: number, write: (n: number) => string) =>
    Array.from({ length: count }, (_, n) => write(n)).join(' ');

  it('not with as much as a page', async () => {
    const stream = await openStream(graph, tenant.app, selecting('children(first: 900) { nodes { name } }'));
    expect(stream.status).toBe(200);
    stream.close();
  });

  it.each<[string, StreamRequest, number]>([
    ['a cursor that is none', { variables: { after: 'nonsense' } }, 400],
    ['a Last-Event-ID that is none', { headers: { 'Last-Event-ID': 'nonsense' } }, 400],
    ['a field that is not there', { query: 'subscription { changes { nothing } }' }, 400],
    ['two fields', { query: 'subscription { a: changes { id } b: changes { id } }' }, 400],
    ['a root that may be skipped', { query: 'subscription { changes @skip(if: true) { id } }' }, 400],
    [
      'a root that a variable may skip',
      {
        query: 'subscription ($is: Boolean!) { ...F } fragment F on Subscription { changes @include(if: $is) { id } }',
      },
      400,
    ],
    ['no type for events', { headers: { Accept: 'application/json' } }, 406],
    ['a token that is none', { headers: { Authorization: 'Bearer nonsense' } }, 401],
    [
      'more rows in an event than a page has',
      selecting(some(2, (n) => `a${n}: children(first: 600) { nodes { name } }`)),
      400,
    ],
    ['more fields in an event than are planned at once', selecting(some(210, () => 'name')), 400],
    [
      'more values in an event than are written at once',
      selecting(`children(first: 900) { nodes { ${some(7, (n) => `a${n}: name`)} } }`),
      400,
    ],
  ])('with %s', async (_what, request, status) => {
    expect(await answer(tenant.app, request)).toEqual({ status, events: null });
  });

  it('by GET', async () => {
    const url = `${graph.url}/graphql?query=${encodeURIComponent('subscription { changes { id } }')}`;
    const response = await fetch(url, {
      headers: { Accept: 'text/event-stream', Authorization: `Bearer ${tenant.app}` },
    });

    expect({ status: response.status, allow: response.headers.get('Allow') }).toEqual({ status: 405, allow: 'POST' });
  });
});

test('a query is answered by an event, if its client takes nothing else', async () => {
  const stream = await openStream(graph, tenant.app, { query: '{ app { name } }' });

  expect(await stream.rest()).toEqual([
    { id: null, event: 'next', data: '{"data":{"app":{"name":"Acme Backend"}}}' },
    { id: null, event: 'complete', data: '' },
  ]);
});

import { shareService } from '../../support/sharedService.ts';
import { type Mutate, mutating } from '../mutating.ts';
import { createTenant, createViewer, type GraphTest, type Tenant } from '../support.ts';
import { openStream, type StreamRequest } from './eventStream.ts';
import { altered, createUnits, present, unkeyed } from './feed.ts';

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
    await createUnits(mutate, 1);
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
    await createUnits(mutate, 1);
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

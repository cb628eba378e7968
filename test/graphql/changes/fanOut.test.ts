import { type FeedPosition, type FeedReader, readEnd } from '../../../plugins/changeFeed.ts';
import { createPool, type EvictablePool } from '../../../src/database/pool/pools.ts';
import { Statements } from '../../../src/graphql/statements.ts';
import { Feed } from '../../../src/graphql/stream/feed.ts';
import { createLog } from '../../../src/log.ts';
import { noRequest } from '../../../src/observability/requestFields.ts';
import { graphSettings } from '../../../src/token/settings.ts';
import { preparesStatements } from '../../support/database.ts';
import { opened } from '../../support/openThings.ts';
import { shareService } from '../../support/sharedService.ts';
import { until } from '../../support/until.ts';
import { createTenant, createUnit, type GraphTest, type Tenant } from '../support.ts';
import { settled } from './feed.ts';

let graph: GraphTest;
let logs: string[];
let pools: EvictablePool[];
let feed: Feed;
let closed: () => void;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(() => {
  closed = opened('feed');
  logs = [];
  pools = [];
  feed = new Feed(openPool(4), createLog('info', { write: (line) => logs.push(line) }));
});
afterEach(async () => {
  for (const pool of pools) await pool.end();
  closed();
});

function openPool(poolSize: number): EvictablePool {
  const settings = {
    poolSize,
    poolWaitMs: 20_000,
    statementTimeoutMs: 10_000,
    preparedStatements: preparesStatements(),
  };
  const pool = createPool(graph.database.authUrl, settings, createLog('silent'));
  pools.push(pool);
  return pool;
}

type Following = {
  readonly pool?: EvictablePool;
  readonly afterRead?: () => Promise<void>;
  /** Where it begins, from the end. */
  readonly from?: (end: FeedPosition) => FeedPosition;
};

/** Follows from now on as a stream of the tenant does. `afterRead` makes its connection a slow one. */
async function startFollower(
  { organizationId, applicationId }: Tenant,
  { pool = openPool(1), afterRead = async () => undefined, from = (end) => end }: Following = {},
) {
  const closing = new AbortController();
  const claims = { organizationId, applicationId, userId: null, grantId: '', clientId: '', scopes: ['app'] };
  const statements = new Statements(
    { pool, lsnCheck: null },
    {
      ...{ token: null, signal: closing.signal, retryLockTimeout: '0', transaction: null, isQuery: true },
      ...{ statementCount: () => 1, onRan: () => undefined, onFailed: () => undefined },
    },
  );
  const withPgClient = statements.clientFor('Grafast');
  const reader = {
    organizationId,
    pgSettings: graphSettings(claims as never, noRequest, 1000),
    withPgClient: (async (settings, work) => {
      const answer = await withPgClient(settings, work);
      await afterRead();
      return answer;
    }) as typeof withPgClient,
  } as unknown as FeedReader;
  const start = await readEnd({ ...reader, withPgClient: withPgClient as FeedReader['withPgClient'] });
  const changes = feed.follow(reader, from(start), closing.signal);
  return { next: async () => (await changes.next()).value?.key[0], abort: () => closing.abort() };
}

test('what is committed while a stream begins is not left until another transaction ends', async () => {
  const [tenant, other] = [await createTenant(graph), await createTenant(graph)];
  const watching = await startFollower(other);
  const theirs = watching.next();
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
  let hasRead = false;
  const beginning = await startFollower(tenant, {
    async afterRead() {
      hasRead = true;
      await arrives;
    },
  });
  const ours = beginning.next();
  await until(() => hasRead);

  const unit = await createUnit(tenant);
  await settled(tenant);
  const seen = await createUnit(other);
  expect(await theirs).toBe(seen.uuid);
  arrive();

  expect(await ours).toBe(unit.uuid);
  for (const follower of [watching, beginning]) follower.abort();
});

test('a stream whose client goes while it reads for the others does not end them', async () => {
  const tenant = await createTenant(graph);
  const pool = openPool(1);
  const [reading, other] = [await startFollower(tenant, { pool }), await startFollower(tenant, { pool })];
  const [first, second] = [reading.next(), other.next()];
  const unit = await createUnit(tenant);
  expect([await first, await second]).toEqual([unit.uuid, unit.uuid]);
  const [gone, following] = [reading.next(), other.next()];

  const only = await pool.connect();
  const next = await createUnit(tenant);
  await until(() => pool.waitingCount > 0);
  reading.abort();
  only.release();

  expect([await gone, await following]).toEqual([undefined, next.uuid]);
  expect(logs).toEqual([]);
  other.abort();
});

test('an organization that is slow to read does not hold up the others', async () => {
  const [tenant, other] = [await createTenant(graph), await createTenant(graph)];
  const { promise: arrives, resolve: arrive } = Promise.withResolvers<void>();
  let reads = 0;
  const slow = await startFollower(tenant, { afterRead: async () => (++reads === 1 ? undefined : arrives) });
  const quick = await startFollower(other);
  const [late, soon] = [slow.next(), quick.next()];
  await until(() => reads === 1);

  const unit = await createUnit(tenant);
  await until(() => reads === 2);
  const theirs = await createUnit(other);

  expect(await soon).toBe(theirs.uuid);
  arrive();
  expect(await late).toBe(unit.uuid);
  for (const follower of [slow, quick]) follower.abort();
});

test('a stream ahead of others lets none of them read again and again, and all get what comes', async () => {
  const [tenant, other] = [await createTenant(graph), await createTenant(graph)];
  await createUnit(tenant);
  await settled(tenant);
  let reads = 0;
  const afterRead = async () => {
    reads++;
  };
  const quick = await startFollower(other);
  const ahead = await startFollower(tenant, { afterRead, from: (end) => ({ ...end, id: '999999999999999999' }) });
  const first = ahead.next();
  await until(() => reads === 1);
  const others = await Promise.all(Array.from({ length: 5 }, () => startFollower(tenant, { afterRead })));
  const nexts = others.map(({ next }) => next());
  await until(() => reads >= 6);

  // Each of these changes is found by a tick of its own.
  for (let tick = 0; tick < 5; tick++) {
    const unit = await createUnit(other);
    expect(await quick.next()).toBe(unit.uuid);
  }
  expect(reads).toBe(6);

  const unit = await createUnit(tenant);
  expect(await Promise.all([first, ...nexts])).toEqual(Array(6).fill(unit.uuid));
  for (const follower of [quick, ahead, ...others]) follower.abort();
});

test('a stream that joins behind the others is offered first what was read before it came', async () => {
  const tenant = await createTenant(graph);
  const gates = { shared: Promise.withResolvers<void>(), own: Promise.withResolvers<void>() };
  const reads = { shared: 0, own: 0 };
  const watching = await startFollower(tenant, {
    afterRead: async () => (++reads.shared === 3 ? gates.shared.promise : undefined),
  });
  const beginning = await startFollower(tenant, {
    afterRead: async () => (++reads.own === 1 ? gates.own.promise : undefined),
  });
  const one = watching.next();
  await until(() => reads.shared === 1);
  const theirs = beginning.next();
  await until(() => reads.own === 1);

  const first = await createUnit(tenant);
  expect(await one).toBe(first.uuid);
  const two = watching.next();
  const second = await createUnit(tenant);
  await until(() => reads.shared === 3);
  gates.own.resolve();
  await new Promise(setImmediate);
  gates.shared.resolve();

  expect([await theirs, await beginning.next(), await two]).toEqual([first.uuid, second.uuid, second.uuid]);
  for (const follower of [watching, beginning]) follower.abort();
});

import { loadConfig } from '../../src/config.ts';
import type { Statement } from '../../src/database/driver/statement.ts';
import { createPool, type EvictablePool } from '../../src/database/pool/pools.ts';
import { QuickStatements } from '../../src/graphql/execution/QuickStatements.ts';
import { createStatements } from '../../src/graphql/execution/statements.ts';
import { createLog } from '../../src/log.ts';
import { noRequest } from '../../src/observability/requestFields.ts';
import { type AccessToken, cachedToken, InvalidTokenError, liveToken } from '../../src/token/accessTokens.ts';
import type { Claims } from '../../src/token/claims.ts';
import { createToken, hashToken } from '../../src/token/format.ts';
import { graphSettings } from '../../src/token/settings.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';
import { createTenant, createUser, type Tenant } from './support.ts';

let database: TestDatabase;
let tenant: Tenant;
let other: Tenant;
let pool: EvictablePool;
let quickStatements: QuickStatements;
beforeAll(async () => {
  database = await createTestDatabase();
  [tenant, other] = [await createTenant({ database }), await createTenant({ database })];
  // One of these is shared.
  const config = loadConfig({ DATABASE_POOL_SIZE: '3', STATEMENT_TIMEOUT_MS: '700' }, 'serve');
  pool = createPool(database.authUrl, config, createLog('silent'));
});
beforeEach(() => {
  quickStatements = new QuickStatements();
});
afterEach(() => expect(pool.idleCount).toBe(pool.totalCount));
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const claimsOf = ({ organizationId, applicationId }: Tenant): Claims => ({
  organizationId,
  applicationId,
  clientId: 'client',
  userId: null,
  grantId: applicationId,
  scopes: ['app'],
  createdAt: new Date(0),
  expiresAt: new Date(0),
});

type RunOptions = { readonly of?: Tenant; readonly signal?: AbortSignal; readonly token?: AccessToken };

/** As a query of a request that has one statement. */
async function run(statement: Statement, { of = tenant, signal, token }: RunOptions = {}): Promise<unknown> {
  const claims = token?.claims ?? claimsOf(of);
  const statements = createStatements(
    { pool, lsnCheck: null },
    {
      ...{ token: token ?? liveToken(claims), signal: signal ?? new AbortController().signal, quickStatements },
      ...{ retryLockTimeout: '0', transaction: null, isQuery: true, inSnapshot: () => false },
      ...{ onRan: () => undefined, onFailed: () => undefined },
    },
  );
  const rows = await statements.query(graphSettings(claims, noRequest, 1000), statement);
  return rows[0]?.[0];
}

const backend: Statement = { name: 'backend', text: 'select pg_backend_pid()::text', values: [], rowMode: 'array' };
const sleep = (seconds: number): Statement => ({
  name: 'sleep',
  text: `select $1::text || coalesce(pg_sleep($1::float)::text, '')`,
  values: [String(seconds)],
  rowMode: 'array',
});
const whose: Statement = {
  name: 'whose',
  text: 'select app_hidden.current_organization_id()::text from app_public.users limit 1',
  values: [],
  rowMode: 'array',
};
const four = <T>(start: () => Promise<T>) => Promise.all([start(), start(), start(), start()]);

/** Until a trial has shown it, which may fail on a busy machine. */
async function makeQuick(statement: Statement, of = tenant): Promise<void> {
  const key = `${of.organizationId} ${statement.name}`;
  await until(async () => {
    await run(statement, { of });
    return quickStatements.paceOf(key) === 'shared';
  });
}

/** How long a backend has been asleep, of those that are. */
async function sleeping(): Promise<number> {
  const { rowCount } = await database.owner.query(
    `select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
  );
  return rowCount ?? 0;
}

test('a statement has a connection of its own until it was quick, and then shares one', async () => {
  expect(new Set(await four(() => run(backend))).size).toBeGreaterThan(1);

  await makeQuick(backend);

  // It is there as long as one uses it.
  const shared = await pool.shared.acquire();
  expect(new Set(await Promise.all([1, 2, 3].map(() => run(backend)))).size).toBe(1);
  shared?.release();
});

test('what is quick for one tenant has yet to be shown for another', async () => {
  await makeQuick(backend);

  expect(quickStatements.paceOf(`${tenant.organizationId} backend`)).toBe('shared');
  expect(quickStatements.paceOf(`${other.organizationId} backend`)).toBe('trial');
});

test('a statement that turns out slow ends all the same, alone, and shares no more', async () => {
  await Promise.all([makeQuick(sleep(0)), makeQuick(backend)]);
  const slow = run(sleep(0.3));
  const neighbours = await Promise.race([four(() => run(backend)), slow.then(() => 'the slow one was first')]);

  expect(neighbours).toHaveLength(4);
  expect(await slow).toBe('0.3');
  expect(quickStatements.paceOf(`${tenant.organizationId} sleep`)).toBe('alone');
});

test('a statement that shares has the statement timeout of all', async () => {
  await makeQuick(sleep(0));
  const startedAt = performance.now();

  await expect(run(sleep(60))).rejects.toMatchObject({ code: '57014' });

  expect(performance.now() - startedAt).toBeGreaterThan(690);
});

test('a client that leaves has its statement ended, and no neighbour', async () => {
  await Promise.all([makeQuick(sleep(0)), makeQuick(backend)]);
  const client = new AbortController();
  const left = expect(run(sleep(60), { signal: client.signal })).rejects.toMatchObject({ code: '57014' });
  const neighbours = four(() => run(backend));
  await until(async () => (await sleeping()) === 1);

  client.abort();

  await left;
  expect(await sleeping()).toBe(0);
  expect(await neighbours).toEqual(Array(4).fill(expect.stringMatching(/^\d+$/)));
});

test('a client that has left before runs nothing', async () => {
  await makeQuick(backend);

  await expect(run(backend, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
});

test('tenants that race on one connection see their own rows, and one whose token has ended none', async () => {
  await Promise.all([createUser(tenant), createUser(other)]);
  await Promise.all([makeQuick(whose), makeQuick(whose, other)]);
  const grantOf = async ({ app }: Tenant): Promise<string> => {
    const text = 'select grant_id from oauth.access_tokens where token_hash = $1';
    return (await database.owner.query(text, [hashToken(app)])).rows[0].grant_id;
  };
  const tokenOf = async (of: Tenant, text: string) => {
    const claims = { ...claimsOf(of), grantId: await grantOf(of) };
    const check = {
      name: 'require_access_token',
      isPinned: true,
      text: 'select app_hidden.require_access_token($1)',
      values: [hashToken(text)],
    } as const;
    return { of, claims, newToken: () => cachedToken(pool, claims, check, noRequest) };
  };
  const [live, theirs, dead] = await Promise.all([
    tokenOf(tenant, tenant.app),
    tokenOf(other, other.app),
    tokenOf(tenant, createToken('access')),
  ]);

  for (let round = 0; round < 100; round++) {
    const asked = [live, dead, theirs, live].map((_, index, all) => all[(index + round) % 4] as typeof live);
    const outcomes = await Promise.allSettled(asked.map(({ of, newToken }) => run(whose, { of, token: newToken() })));

    for (const [index, { of }] of asked.entries()) {
      const outcome = outcomes[index];
      if (asked[index] === dead) expect(outcome).toMatchObject({ reason: expect.any(InvalidTokenError) });
      else expect(outcome).toEqual({ status: 'fulfilled', value: of.organizationId });
    }
  }
});

describe('the pace of a statement', () => {
  const key = 'a statement';
  const paces = (count: number) => Array.from({ length: count }, () => quickStatements.paceOf(key));

  it('is a trial until that has shown it, and then shared', () => {
    expect(paces(2)).toEqual(['trial', 'trial']);
    quickStatements.wasQuick(key);
    expect(paces(2)).toEqual(['shared', 'shared']);
  });

  it('is alone after it was slow, for twice as many runs each time, up to 256', () => {
    for (const alone of [4, 8, 16, 32, 64, 128, 256, 256]) {
      quickStatements.wasSlow(key);
      expect(paces(alone + 1)).toEqual([...Array(alone).fill('alone'), 'trial']);
    }
  });

  it('recovers by one run for each that was quick', () => {
    for (const _ of [1, 2, 3]) quickStatements.wasSlow(key);
    paces(16);
    for (let quick = 0; quick < 10; quick++) quickStatements.wasQuick(key);
    quickStatements.wasSlow(key);

    expect(paces(23)).toEqual([...Array(22).fill('alone'), 'trial']);
  });
});

import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { issueToken } from '../graphql/support.ts';
import type { TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';
import { type Clients, kinds, startClients } from './support/clients.ts';
import { type PostgresServer, startPostgresServer } from './support/postgresServer.ts';
import { startTcpProxy, type TcpProxy } from './support/tcpProxy.ts';
import { createTenantWithSecret, type TenantWithSecret } from './support/tenant.ts';

// The service reaches the primary and its replica by a proxy each, which is what a stable name is. It has two processes: who
// writes by one of them reads by the other.

const lagMs = 500;
const metricsPort = randomInt(20_000, 30_000);

/** The last two are the primary and its replica; those before were primaries once. */
const servers: PostgresServer[] = [];
const pools: Pool[] = [];
let replica: PostgresServer;
let toPrimary: TcpProxy;
let toReplica: TcpProxy;
let primaryPort: number;
let owner: Pool;
let atReplica: Pool;
let service: TestProcess;
let tenant: TenantWithSecret;
const table: Record<string, string | number>[] = [];

beforeAll(async () => {
  const careless = { fsync: 'off' };
  const primary = await startPostgresServer(careless);
  replica = await primary.replicate({ ...careless, recovery_min_apply_delay: `${lagMs}ms` });
  servers.push(primary, replica);
  primaryPort = primary.port;
  toPrimary = await startTcpProxy(() => ({ port: primaryPort }));
  toReplica = await startTcpProxy(() => ({ port: servers.at(-1)?.port ?? 0 }));
  owner = poolOf(primary.ownerUrl);
  atReplica = poolOf(replica.ownerUrl);
  tenant = await createTenantWithSecret(owner);
  service = await startServer({
    WORKERS: '2',
    METRICS_PORT: String(metricsPort),
    AUTH_DATABASE_URL: throughProxy(primary.authUrl, toPrimary),
    REPLICA_DATABASE_URL: throughProxy(replica.authUrl, toReplica),
  });
  await isAsked(true);
}, 120_000);

afterAll(async () => {
  service.signal('SIGTERM');
  await service.exited;
  await Promise.all(pools.map((pool) => pool.end()));
  await Promise.all([toPrimary.stop(), toReplica.stop()]);
  for (const server of servers) await server.remove();
  console.table(table);
});

function poolOf(connectionString: string): Pool {
  const pool = new Pool({ connectionString, max: 2 });
  pool.on('error', () => undefined);
  pools.push(pool);
  return pool;
}

function throughProxy(url: string, { port }: TcpProxy): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

/** The sum over both processes, and of how many. */
async function sample(name: string, labels = ''): Promise<{ sum: number; processes: number }> {
  const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(labels));
  return { sum: lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0), processes: lines.length };
}

const isAsked = (asked: boolean) =>
  until(async () => {
    const { sum, processes } = await sample('graph_replica_asked');
    return processes === 2 && sum === (asked ? 2 : 0);
  });

const said = (text: string) => service.output.stderr.split(text).length - 1;

const answeredBy = async (server: string) => (await sample('graph_queries_total', `server="${server}"`)).sum;

/** Each of them knows what it has written, and no more. */
async function newTokens(pool: Pool, count: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into oauth.applications (organization_id, name, client_id, scopes)
     select $1, 'Writer', gen_random_uuid(), '{app}' from generate_series(1, $2) returning id`,
    [tenant.organizationId, count],
  );
  return Promise.all(rows.map(({ id }) => issueToken({ ...tenant, owner: pool, applicationId: id }, ['app'])));
}

/** The data of an operation that succeeds. Of the connections, which are shared out to both processes, it takes any. */
async function read<Data>(token: string, query: string): Promise<Data> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const response = await fetch(`${addressOf(service)}/graphql`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: Data; errors?: unknown };
  if (errors) throw new Error(`${response.status}: ${JSON.stringify(errors)}`);
  return data;
}

let made = 0;

async function create(token: string): Promise<string> {
  const query = `mutation { userCreate(fullName: "Ada", email: "pair-${made++}@replica.test") { user { id } } }`;
  return (await read<{ userCreate: { user: { id: string } } }>(token, query)).userCreate.user.id;
}

/** Of one statement, and of several in a snapshot. */
const readings = [
  (id: string) => `{ node(id: "${id}") { id } }`,
  (id: string) => `{ node(id: "${id}") { id } app { users(first: 1) { totalCount } rootUnits { nodes { id } } } }`,
];

/** Writes and reads what was written, sooner or later; says how often it was not there. */
async function countMissing(pairs: number, tokens: readonly string[]): Promise<number> {
  let begun = 0;
  let missing = 0;
  const client = async (token: string) => {
    while (begun < pairs) {
      const number = begun++;
      const reading = readings[number % readings.length] ?? String;
      const id = await create(token);
      if (number % 4 > 1) await delay(randomInt(3 * lagMs));
      const { node } = await read<{ node: { id: string } | null }>(token, reading(id));
      if (node?.id !== id) missing++;
    }
  };
  await Promise.all(tokens.map(client));
  return missing;
}

test('who writes reads it, in 5,000 pairs, by whichever process, from a replica that lags', async () => {
  const [stranger = '', ...tokens] = await newTokens(owner, 33);
  await until(async () => {
    const before = await answeredBy('replica');
    await read(stranger, '{ app { name } }');
    await delay(lagMs);
    return (await answeredBy('replica')) > before;
  });
  const [replicaBefore, primaryBefore] = [await answeredBy('replica'), await answeredBy('primary')];
  const begunAt = performance.now();

  const missing = await countMissing(5000, tokens);

  const seconds = (performance.now() - begunAt) / 1000;
  const byReplica = (await answeredBy('replica')) - replicaBefore;
  const byPrimary = (await answeredBy('primary')) - primaryBefore;
  // That there is something to hide: who has not written it does not see it yet.
  const id = await create(tokens[0] ?? '');
  const { node } = await read<{ node: unknown }>(stranger, `{ node(id: "${id}") { id } }`);

  table.push({ what: '5,000 pairs', missing, byReplica, byPrimary, seconds: Math.round(seconds) });
  expect(missing).toBe(0);
  expect(node).toBeNull();
  expect(byReplica + byPrimary).toBe(5000);
  expect(Math.min(byReplica, byPrimary)).toBeGreaterThan(1000);
}, 600_000);

/** What clients of every kind are told meanwhile, and how late at most. */
async function during(what: string, work: () => Promise<void>) {
  const clients: Clients = startClients(() => addressOf(service), tenant);
  let begunAt = 0;
  try {
    // The offload thread takes its time to start.
    await until(() => kinds.every((kind) => clients.answers.filter((answer) => answer.kind === kind).length > 10));
    begunAt = performance.now();
    await work();
    const before = clients.answers.length;
    await until(() => clients.answers.length > before + 50);
  } finally {
    await clients.stop();
  }
  const answers = clients.answers.filter(({ endedAt }) => endedAt > begunAt);
  const told = new Set(answers.map((answer) => answer.told));
  const longestMs = Math.round(Math.max(...answers.map(({ begunAt, endedAt }) => endedAt - begunAt)));
  table.push({ what, told: [...told].join(', '), requests: answers.length, longestMs });
  return { answers, told, longestMs };
}

test.each<[string, () => Promise<void>, () => Promise<void>, number]>([
  ['is stopped', () => replica.end('SIGINT'), () => replica.start(), 1500],
  ['is killed', () => replica.end('SIGKILL'), () => replica.start(), 1500],
  ['refuses', () => toReplica.become({ kind: 'refused' }), () => toReplica.become({ kind: 'clear' }), 1500],
  ['is silent', () => toReplica.become({ kind: 'silent' }), () => toReplica.become({ kind: 'clear' }), 4500],
])(
  'nothing fails when the replica %s, and it is taken back',
  async (what, begin, end, withinMs) => {
    const [out, back] = [said('"reason":"it does not answer"'), said('queries go to the replica')];

    const { told, longestMs } = await during(`the replica ${what}`, async () => {
      await begin();
      await isAsked(false);
      await delay(2000);
      await end();
      await isAsked(true);
    });

    expect(told).toEqual(new Set(['200']));
    expect(longestMs).toBeLessThan(withinMs);
    // By each process once.
    expect([said('"reason":"it does not answer"'), said('queries go to the replica')]).toEqual([out + 2, back + 2]);
  },
  60_000,
);

test('a replica that lags for some seconds is left out, and taken back when it has caught up', async () => {
  const { told } = await during('the replica lags', async () => {
    await atReplica.query('select pg_wal_replay_pause()');
    await isAsked(false);
    await atReplica.query('select pg_wal_replay_resume()');
    await isAsked(true);
  });

  expect(told).toEqual(new Set(['200']));
  expect(said('"reason":"it is too far behind"')).toBe(2);
}, 60_000);

test.each<[string, (old: PostgresServer) => Promise<void>]>([
  ['one that was stopped', (old) => old.end('SIGINT')],
  ['one that was killed', (old) => old.end('SIGKILL')],
])(
  'the service goes on by itself when another primary takes the place of %s',
  async (what, fall) => {
    const [old, next] = servers.slice(-2);
    if (!old || !next) throw new Error('There are no two');
    const promoter = poolOf(next.ownerUrl);

    let switchedAt = 0;
    const { answers, told } = await during(`instead of ${what}`, async () => {
      await fall(old);
      await promoter.query('select pg_promote(wait => false)');
      await until(async () => !(await promoter.query('select pg_is_in_recovery() as it')).rows[0].it);
      primaryPort = next.port;
      switchedAt = performance.now();
      await isAsked(false);
      // Until then the old one, which can still be read, may be asked: it knows no token of the new one.
      await delay(goesOnWithinMs);
    });
    const failures = answers.filter((answer) => answer.told !== '200' && answer.endedAt > switchedAt);
    const lastFailure = Math.max(switchedAt, ...failures.map(({ endedAt }) => endedAt));
    table.push({ what: 'goes on', afterMs: Math.round(lastFailure - switchedAt) });
    const missing = await countMissing(200, await newTokens(promoter, 8));

    const outage = ['503 UNAVAILABLE', '503 temporarily_unavailable'];
    expect([...told].filter((text) => text !== '200' && !outage.includes(text))).toEqual([]);
    expect(lastFailure - switchedAt).toBeLessThan(goesOnWithinMs);
    expect(missing).toBe(0);

    // The new one has a replica, which is found at the old one's name.
    servers.push(await next.replicate());
    await isAsked(true);
  },
  120_000,
);

const goesOnWithinMs = 2500;

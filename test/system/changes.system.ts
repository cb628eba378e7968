import { setTimeout as delay } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { decodeNodeId, encodeNodeId } from '../../plugins/NodeIdPlugin.ts';
import { readPage, settled } from '../graphql/changes/feed.ts';
import { mutating } from '../graphql/mutating.ts';
import { createTenant, type Tenant } from '../graphql/support.ts';
import { randomOf } from '../oracle/random.ts';
import type { TestProcess } from '../support/process.ts';
import { seed } from '../support/search.ts';
import { startServer } from '../support/startServer.ts';
import { until } from '../support/until.ts';
import { addressOf, workersOf } from '../support/workers.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { type Follower, pagesOf, startFollower, streamOf, webhookOf } from './support/changeFollowers.ts';
import { type Draw, startChangeWriters } from './support/changeWriters.ts';
import { type PostgresServer, startPostgresServer } from './support/postgresServer.ts';

const writingMs = 60_000;
/** For what was written and not yet followed. */
const catchUpMs = 480_000;

let postgres: PostgresServer;
let owner: Pool;
let service: TestProcess;
let receivers: Receiver[];
beforeAll(async () => {
  // Durable, as by default.
  postgres = await startPostgresServer({ max_connections: 60, deadlock_timeout: 100 });
  owner = new Pool({ connectionString: postgres.ownerUrl, max: 2 });
  // It is killed along with the others.
  owner.on('error', () => undefined);
  service = await startService();
  receivers = [await startReceiver(), await startReceiver()];
}, 60_000);
afterAll(async () => {
  service.signal('SIGTERM');
  await service.exited;
  await owner.end();
  await postgres.remove();
  for (const receiver of receivers) await receiver.stop();
});

test(
  'followers have exactly the rows at the end, through a minute of kills of the service and of PostgreSQL',
  async () => {
    const { below: draw } = randomOf(seed);
    const [tenant, other] = [await createTenant({ database: { owner } }), await createTenant({ database: { owner } })];
    const serviceUrl = () => addressOf(service);
    const follow = async (of: Tenant, pages: readonly number[], streams: number): Promise<Follower[]> => {
      const { endCursor } = (await readPage({ url: serviceUrl() } as never, of, { first: 0 })).pageInfo;
      return [
        ...pages.map((first) => startFollower(`pages of ${first}`, pagesOf(serviceUrl, of, first))),
        ...Array.from({ length: streams }, (_, n) =>
          startFollower(`stream ${n + 1}`, streamOf(serviceUrl, of, endCursor)),
        ),
      ];
    };
    /** Cards come by the ten thousand, which one receiver takes one after the other. */
    const send = async (of: Tenant, receiver: Receiver | undefined, typeNames: readonly string[] | null) => {
      if (!receiver) throw new Error('There is no receiver');
      const mutate = mutating({ url: serviceUrl() } as never, of);
      const made = await mutate('webhookCreate', { url: receiver.url, typeNames }, 'secret');
      return startFollower('webhook', webhookOf(receiver, (made as { secret: string }).secret), typeNames);
    };
    const groups = [
      {
        of: tenant,
        followers: [
          ...(await follow(tenant, [1000, 1000, 500, 333, 100], 5)),
          await send(tenant, receivers[0], withoutCards),
        ],
      },
      { of: other, followers: [...(await follow(other, [1000], 1)), await send(other, receivers[1], null)] },
    ];
    const target = { serviceUrl, ownerUrl: postgres.ownerUrl };
    const writers = [
      startChangeWriters(target, tenant, { clients: 5, batches: 4, rivals: 3, sleepers: 2, wasters: 2 }, draw),
      startChangeWriters(target, other, { clients: 1, batches: 1, rivals: 1, sleepers: 1 }, draw),
    ];

    const kills = await killAtRandom(draw, Date.now() + writingMs);
    await Promise.all(writers.map((of) => of.stop()));
    const writtenAt = Date.now();

    const report: Record<string, string | number>[] = [];
    const differing: string[] = [];
    let total = 0;
    for (const [index, { of, followers }] of groups.entries()) {
      await settled(of);
      const all = { changes: await countChanges(of, 'true'), rows: await rowsOf(of) };
      const some = {
        changes: await countChanges(of, `relation <> 'app_public.cards'`),
        rows: new Map([...all.rows].filter(([id]) => withoutCards.includes(typeOf(id)))),
      };
      const expectedOf = ({ typeNames }: Follower) => (typeNames ? some : all);
      const isAtEnd = (follower: Follower) => follower.seen >= expectedOf(follower).changes;
      while (!followers.every(isAtEnd) && Date.now() < writtenAt + catchUpMs) await delay(100);
      total += all.changes;
      for (const follower of followers) {
        const { name, typeNames, copy, seen, violations, cuts } = follower;
        const { changes, rows } = expectedOf(follower);
        const missing = [...rows].filter(
          ([id, updates]) => !copy.has(id) || (updates !== null && copy.get(id) !== updates),
        );
        const extra = [...copy.keys()].filter((id) => !rows.has(id));
        if (seen !== changes) differing.push(`${name} has seen ${seen} of ${changes}`);
        if (missing.length > 0) differing.push(`${name} misses ${missing.length}: ${missing.slice(0, 3)}`);
        if (extra.length > 0) differing.push(`${name} has ${extra.length} too many: ${extra.slice(0, 3)}`);
        if (!typeNames && follower.digest() !== followers[0]?.digest()) differing.push(`${name} has another order`);
        if (violations.length > 0)
          differing.push(`${name}: ${violations.length} violations: ${violations.slice(0, 3)}`);
        if (cuts.has('CURSOR_EXPIRED')) differing.push(`${name}: CURSOR_EXPIRED`);
        report.push({
          ...{ organization: index + 1, follower: name, written: changes, seen, rows: rows.size, copy: copy.size },
          ...{
            violations: violations.length,
            cuts: [...cuts].map(([reason, count]) => `${count} ${reason}`).join(', '),
          },
        });
      }
    }
    await Promise.all(groups.flatMap(({ followers }) => followers.map((follower) => follower.stop())));
    console.table(report);
    for (const { outcomes } of writers) console.log(JSON.stringify(Object.fromEntries([...outcomes].toSorted())));
    console.log(
      `SEED=${seed}: ${total} changes, kills: ${JSON.stringify(kills)}, caught up ${Date.now() - writtenAt} ms later`,
    );

    const [ours, theirs] = groups.map(({ followers }) => followers.map(({ known }) => known));
    const foreign = ours?.flatMap((known) => theirs?.map((others) => known.intersection(others).size));
    expect(differing).toEqual([]);
    expect(new Set(foreign)).toEqual(new Set([0]));
    expect(service.running).toBe(true);
  },
  writingMs + catchUpMs + 120_000,
);

const withoutCards = ['User', 'Unit', 'CardAssignment', 'AccessGrant'];

const typeOf = (id: string): string => decodeNodeId(id)?.[0] ?? '';

async function killAtRandom(draw: Draw, end: number): Promise<Record<string, number>> {
  const kills = { service: 0, worker: 0, PostgreSQL: 0, session: 0 };
  while (Date.now() < end) {
    await delay(500 + draw(2500));
    const kind =
      (['service', 'worker', 'worker', 'PostgreSQL', 'PostgreSQL', 'session'] as const)[draw(6)] ?? 'service';
    kills[kind]++;
    if (kind === 'service') {
      service.signalGroup('SIGKILL');
      await service.exited;
      service = await startService();
    } else if (kind === 'worker') {
      const [victim] = await workersOf(service);
      if (victim) process.kill(victim, 'SIGKILL');
    } else if (kind === 'PostgreSQL') {
      await postgres.crash();
      await delay(draw(500));
      await postgres.start();
    } else {
      await killSession();
    }
    await until(() =>
      owner.query('select').then(
        () => true,
        () => false,
      ),
    );
  }
  return kills;
}

/** PostgreSQL ends all others then, and recovers. Resolves when that has begun. */
async function killSession(): Promise<void> {
  const witness = new Client({ connectionString: postgres.ownerUrl });
  witness.on('error', () => undefined);
  await witness.connect();
  const ended = new Promise((resolve) => witness.once('end', resolve));
  const { rows } = await witness.query<{ pid: number }>(
    `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid() order by random() limit 1`,
  );
  if (rows[0]) process.kill(rows[0].pid, 'SIGKILL');
  else await witness.end();
  await ended;
}

async function countChanges({ organizationId }: Tenant, condition: string): Promise<number> {
  const { rows } = await owner.query(
    `select count(*)::int from feed.changes where organization_id = $1 and ${condition}`,
    [organizationId],
  );
  return rows[0].count;
}

/** By id the number of updates that each has had, if its name says so. */
async function rowsOf({ organizationId }: Tenant): Promise<Map<string, number | null>> {
  const { rows } = await owner.query<{ key: string[]; updates: number | null }>(
    `select array['User', id::text] as key, null::int as updates from app_public.users where organization_id = $1
     union all select array['Unit', id::text], null from app_public.units where organization_id = $1
     union all select array[type, id::text], case when name ~ '^\\d+$' then name::int end from app_public.cards where organization_id = $1
     union all select array['CardAssignment', id::text], null from app_public.card_assignments where organization_id = $1
     union all select array['AccessGrant', id::text], null from app_hidden.unit_access where organization_id = $1`,
    [organizationId],
  );
  return new Map(rows.map(({ key: [type = '', ...key], updates }) => [encodeNodeId([type, ...key]) ?? '', updates]));
}

function startService(): Promise<TestProcess> {
  return startServer({
    AUTH_DATABASE_URL: postgres.authUrl,
    WORKERS: '2',
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: 'error',
  });
}

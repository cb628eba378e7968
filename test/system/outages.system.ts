import { Pool, type PoolClient } from 'pg';
import type { TestProcess } from '../support/process.ts';
import { startServer } from '../support/startServer.ts';
import { until } from '../support/until.ts';
import { addressOf } from '../support/workers.ts';
import { type Clients, kinds, startClients } from './support/clients.ts';
import { away, awayAndBack, measureOutage, type Outage, successesOf } from './support/measureOutage.ts';
import { type PostgresServer, startPostgresServer } from './support/postgresServer.ts';
import { mountSmallDisk } from './support/smallDisk.ts';
import { startTcpProxy, type TcpProxy } from './support/tcpProxy.ts';
import { createTenantWithSecret } from './support/tenant.ts';

// The service reaches PostgreSQL through a proxy. In each outage clients go on asking; the log is read beside.

const statementTimeoutMs = 3000;
const poolWaitMs = 1000;
/** The driver waits so much longer than PostgreSQL for a statement's end. */
const graceMs = 1000;

let postgres: PostgresServer;
let owner: Pool;
let proxy: TcpProxy;
let service: TestProcess;
let clients: Clients;
const table: Record<string, string | number>[] = [];

beforeAll(async () => {
  postgres = await startPostgresServer({ max_connections: 20 });
  owner = new Pool({ connectionString: postgres.ownerUrl, max: 2 });
  owner.on('error', () => undefined);
  proxy = await startTcpProxy(() => ({ port: postgres.port }));
  const tenant = await createTenantWithSecret(owner);
  const authUrl = new URL(postgres.authUrl);
  authUrl.port = String(proxy.port);
  service = await startServer({
    AUTH_DATABASE_URL: authUrl.href,
    STATEMENT_TIMEOUT_MS: String(statementTimeoutMs),
    DATABASE_POOL_WAIT_MS: String(poolWaitMs),
    DATABASE_POOL_SIZE: '4',
    // Who was served just when it was over has waited for long.
    SLOW_MS: '600000',
  });
  clients = startClients(() => addressOf(service), tenant);
  await until(() => kinds.every((kind) => successesOf(clients, kind, 0).length > 5));
}, 120_000);

afterAll(async () => {
  await clients.stop();
  service.signal('SIGTERM');
  await service.exited;
  await owner.end();
  await proxy.stop();
  await postgres.remove();
  console.table(table);
});

const atOnce = poolWaitMs;
const inSilence = poolWaitMs + statementTimeoutMs + graceMs;

test('PostgreSQL is restarted', () =>
  expectOutage('restarted', {
    begin: async () => {
      await postgres.end('SIGINT');
    },
    end: () => postgres.start(),
    answers: away,
    withinMs: atOnce,
    log: awayAndBack,
  }));

test('PostgreSQL is killed', () =>
  expectOutage('killed', {
    begin: () => postgres.end('SIGKILL'),
    end: () => postgres.start(),
    answers: away,
    withinMs: atOnce,
    log: awayAndBack,
  }));

test('connections are refused', () =>
  expectOutage('refused', {
    begin: () => proxy.become({ kind: 'refused' }),
    end: () => proxy.become({ kind: 'clear' }),
    answers: away,
    withinMs: atOnce,
    log: awayAndBack,
  }));

test('connections are reset', () =>
  expectOutage('reset', {
    begin: () => proxy.become({ kind: 'reset' }),
    end: () => proxy.become({ kind: 'clear' }),
    answers: away,
    withinMs: atOnce,
    log: awayAndBack,
  }));

test('what is sent disappears, for longer than anybody waits', () =>
  expectOutage('silent', {
    begin: () => proxy.become({ kind: 'silent' }),
    end: () => proxy.become({ kind: 'clear' }),
    answers: away,
    withinMs: inSilence,
    log: awayAndBack,
    forMs: 8000,
  }));

test('what is sent disappears for a moment, and those connections stay dead', () =>
  expectOutage('silent for a moment', {
    begin: () => proxy.become({ kind: 'silent' }),
    end: () => proxy.become({ kind: 'clear' }),
    answers: away,
    withinMs: inSilence,
    log: awayAndBack,
    forMs: 2000,
  }));

test('PostgreSQL has no connection left for others: the pool serves, and the service stays ready', async () => {
  const hogging = new Pool({ connectionString: postgres.ownerUrl, max: 30 });
  hogging.on('error', () => undefined);
  const hogs: PoolClient[] = [];
  const statuses = new Set<number>();
  await expectOutage('no other connection left', {
    begin: async () => {
      for (let n = 0; n < 20; n++) {
        const hog = await hogging.connect().catch(() => null);
        if (hog) hogs.push(hog);
      }
    },
    end: async () => {
      statuses.add((await fetch(`${addressOf(service)}/readyz`)).status);
      for (const hog of hogs) hog.release(true);
    },
    answers: ['200', ...away],
    withinMs: atOnce,
    log: [],
  });
  expect([...statuses]).toEqual([200]);
  await hogging.end();
});

test('PostgreSQL has no connection left', async () => {
  const hogs: PoolClient[] = [];
  const hogging = new Pool({ connectionString: postgres.ownerUrl, max: 30 });
  hogging.on('error', () => undefined);
  await expectOutage('no connection left', {
    begin: async () => {
      // As when something else needs them all: the service's own go first, until it gets none of those that are free again.
      for (let left = 1; left > 0; ) {
        await hogs[0]?.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'authenticator'`);
        for (let hog: PoolClient | null | undefined; hog !== null; ) {
          hog = await hogging.connect().catch(() => null);
          hog?.on('error', () => undefined);
          if (hog) hogs.push(hog);
        }
        const sessions = `select count(*)::int as left from pg_stat_activity where usename = 'authenticator'`;
        left = (await hogs[0]?.query<{ left: number }>(sessions))?.rows[0]?.left ?? 1;
      }
    },
    end: async () => {
      for (const hog of hogs) hog.release(true);
    },
    answers: away,
    withinMs: atOnce,
    log: awayAndBack,
  });
  await hogging.end();
});

test('the disk is full', async () => {
  const disk = await mountSmallDisk(16, postgres.user);
  await owner.query(`create tablespace small location '${disk.path}'`);
  await owner.query('alter table app_public.users set tablespace small');
  await owner.query('alter table oauth.access_tokens set tablespace small');
  await expectOutage('disk full', {
    begin: () => disk.fill(),
    end: () => disk.free(),
    answers: ['200', ...away],
    withinMs: statementTimeoutMs,
    log: [],
    mostDescribed: 1,
  });
  expect(service.output.stderr).toContain("PostgreSQL's disk is full; logged once a minute");
  const ready = await fetch(`${addressOf(service)}/readyz`);
  expect(await ready.json()).toEqual({ status: 'ready', notice: expect.stringContaining('disk is full') });
  await owner.query('alter table app_public.users set tablespace pg_default');
  await owner.query('alter table oauth.access_tokens set tablespace pg_default');
  await owner.query('drop tablespace small');
  await disk.remove();
});

test('PostgreSQL is slow: it answers, but later than the limit', async () => {
  let holder: PoolClient | undefined;
  await expectOutage('locked', {
    begin: async () => {
      holder = await owner.connect();
      await holder.query('begin');
      await holder.query('lock table app_public.users, oauth.refresh_tokens');
    },
    end: async () => {
      await holder?.query('rollback');
      holder?.release();
    },
    answers: ['200 TIMEOUT', ...away],
    withinMs: poolWaitMs + statementTimeoutMs,
    log: [],
    mostDescribed: 20,
    // Until who came in it has waited for its turn and a connection, and then for the lock.
    forMs: 8000,
  });
});

test('the network is slow', () =>
  expectOutage('slow network', {
    begin: () => proxy.become({ kind: 'slow', delayMs: 100 }),
    end: () => proxy.become({ kind: 'clear' }),
    answers: ['200', ...away],
    withinMs: poolWaitMs + statementTimeoutMs,
    log: [],
  }));

async function expectOutage(name: string, outage: Omit<Outage, 'turnMs'>): Promise<void> {
  table.push({
    outage: name,
    ...(await measureOutage({ service, clients }, { ...outage, turnMs: statementTimeoutMs })),
  });
}

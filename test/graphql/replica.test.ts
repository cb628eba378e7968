import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { evaluate, question } from '../authzen/support.ts';
import { scrape } from '../observability/support.ts';
import { byTcp, listenerOf } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import type { PostgresServer } from '../system/support/postgresServer.ts';
import { startTcpProxy } from '../system/support/tcpProxy.ts';
import {
  askServer,
  count,
  createReader,
  long,
  type ReplicaPair,
  requestLine,
  startReplicaPair,
  twice,
  whileReplayPauses,
} from './replicaPair.ts';
import { type Answer, ask, createUnit, createViewer, type Tenant } from './support.ts';

// A primary and its streaming replica, whose replay can be paused.

let pair: ReplicaPair;
let primary: PostgresServer;
let replica: PostgresServer;
let owner: Pool;
let atReplica: Pool;
let service: TestService;
let tenant: Tenant;
beforeAll(async () => {
  pair = await startReplicaPair();
  ({ primary, replica, owner, atReplica, service, tenant } = pair);
  await isAsked(true);
});
afterAll(() => pair.stop());

const sample = async (name: string) => (await scrape(service.metricsPort ?? 0)).samples.get(name);
const isAsked = (asked: boolean) => until(async () => (await sample('graph_replica_asked')) === Number(asked));
const said = (text: string) => service.logs.filter((line) => line.includes(text)).length;

const newReader = () => createReader(pair);
const askWhere = (token: string, query: string) => askServer(service, token, query);
const whilePaused = (work: () => Promise<void>) => whileReplayPauses(pair, work);

let made = 0;
const create = (token: string): Promise<Answer> =>
  ask(service, token, `mutation { userCreate(fullName: "Ada", email: "${made++}@replica.test") { user { id } } }`);

test.each([
  ['one statement', count],
  ['several statements', twice],
  ['a long operation', long],
])('a query of %s is answered by the replica, and a change by the primary', async (_name, query) => {
  const reader = await newReader();
  const answeredBefore = (await sample('graph_queries_total{server="replica"}')) ?? 0;

  expect(await askWhere(reader, query)).toMatchObject({ server: 'replica', data: { app: { users: {} } } });
  expect((await create(reader)).body).toMatchObject({ data: { userCreate: { user: {} } } });

  await until(async () => ((await sample('graph_queries_total{server="replica"}')) ?? 0) > answeredBefore);
});

test('reading that is recorded is answered by the primary, and by the replica again when it is not recorded any more', async () => {
  const reader = await newReader();
  const reads = `select count(*)::int as count from audit.changes where command = 'select' and relation = 'app_public.users'`;
  const policies = `select from pg_policy where polname = 'record_reads'`;
  const replayed = (count: number) => until(async () => (await atReplica.query(policies)).rowCount === count);

  await owner.query(`select audit.record_reads('app_public.users')`);
  await replayed(1);
  expect((await askWhere(reader, count)).server).toBe('primary');
  expect((await askWhere(reader, twice)).server).toBe('primary');
  expect((await owner.query(reads)).rows[0].count).toBeGreaterThan(1);

  await owner.query(`select audit.record_reads('app_public.users', 0)`);
  await replayed(0);
  expect((await askWhere(reader, count)).server).toBe('replica');
});

test.each([
  ['one statement', count],
  ['several statements', twice],
  ['a long operation', long],
])('who has written reads it, by %s, while others are told what the replica has', async (_name, query) => {
  const [writer, reader] = [await newReader(), await newReader()];
  const before = (await askWhere(reader, query)).data.app.users.totalCount;

  await whilePaused(async () => {
    await create(writer);

    expect(await askWhere(writer, query)).toMatchObject({
      server: 'primary',
      data: { app: { users: { totalCount: before + 1 } } },
    });
    expect(await askWhere(reader, query)).toMatchObject({
      server: 'replica',
      data: { app: { users: { totalCount: before } } },
    });
  });

  await until(async () => (await askWhere(writer, query)).server === 'replica');
  expect((await askWhere(writer, query)).data.app.users.totalCount).toBe(before + 1);
});

test('read-your-writes: a token reads each of its many concurrent changes once it was answered', async () => {
  const writer = await newReader();
  const before = (await askWhere(writer, count)).data.app.users.totalCount;

  await whilePaused(async () => {
    const counts = Array.from({ length: 32 }, async () => {
      await create(writer);
      return (await askWhere(writer, count)).data.app.users.totalCount;
    });

    expect(Math.min(...(await Promise.all(counts)))).toBeGreaterThan(before);
    expect((await askWhere(writer, count)).data.app.users.totalCount).toBe(before + 32);
  });
});

test('who has just been given a token sees what was there by then', async () => {
  await whilePaused(async () => {
    const viewer = await createViewer(tenant, { fullName: 'Grace Hopper' });

    expect(await askWhere(viewer.token, '{ viewer { fullName } }')).toEqual({
      server: 'primary',
      data: { viewer: { fullName: 'Grace Hopper' } },
    });
  });
});

test('a token that was revoked is refused, though the replica does not know yet', async () => {
  const reader = await newReader();

  await whilePaused(async () => {
    await owner.query(
      'delete from oauth.grants where id in (select grant_id from oauth.access_tokens where token_hash = sha256($1))',
      [Buffer.from(reader)],
    );

    expect((await ask(service, reader, count)).status).toBe(401);
  });
});

test('a grant that ends gives nothing with the next statement, on the replica and in a second service', async () => {
  const [person, unit, token] = [await createViewer(tenant), await createUnit(tenant), await newReader()];
  const decision = `{ app { users { totalCount } accessDecision(unitId: "${unit.id}", credential: { userId: "${person.id}" }) { reason } } }`;
  const isAnswered = (reason: string) =>
    until(async () => {
      const { data, server } = await askWhere(token, decision);
      return server === 'replica' && JSON.stringify(data).includes(`"reason":"${reason}"`);
    });
  const second = await startTestService(primary);
  const reasonsOf = async (asked: TestService) => {
    const { body } = await ask(asked, token, decision);
    const { context } = (await evaluate(asked, token, 'evaluation', question(['user', person.id], unit.id))).body as {
      context: { reason: string };
    };
    return [(body.data as { app: { accessDecision: { reason: string } } }).app.accessDecision.reason, context.reason];
  };
  const granting = 'insert into app_hidden.unit_access (organization_id, user_id, unit_id) values ($1, $2, $3)';
  await owner.query(granting, [tenant.organizationId, person.uuid, unit.uuid]);
  await isAnswered('GRANTED');
  expect([await reasonsOf(service), await reasonsOf(second)]).toEqual([granted, granted]);
  const ending = `update app_hidden.unit_access set valid_until = clock_timestamp() + '1 second' where user_id = $1`;
  await owner.query(ending, [person.uuid]);

  await isAnswered('EXPIRED');
  expect([await reasonsOf(service), await reasonsOf(second)]).toEqual([expired, expired]);
  await second.stop();
  await owner.query('delete from app_public.units where id = $1', [unit.uuid]);
});

/** By `accessDecision` and by AuthZEN. */
const [granted, expired] = ['GRANTED', 'EXPIRED'].map((reason) => [reason, reason]);

test('AuthZEN is answered by the replica, unless that lacks what the client has written', async () => {
  const [person, unit, token] = [await createViewer(tenant), await createUnit(tenant), await newReader()];
  const body = question(['user', person.id], unit.id);
  const decide = async (nth: string) => {
    const id = `${token.slice(-12)}-${nth}`;
    const answer = await evaluate(service, token, 'evaluation', body, { 'X-Request-ID': id });
    const { server } = await requestLine(service, id);
    return `${(answer.body as { context: { reason: string } }).context.reason} by the ${server}`;
  };
  let nth = 0;
  const isDecided = (decided: string) => until(async () => (await decide(`poll-${nth++}`)) === decided);
  await isDecided('NO_GRANT by the replica');

  await whilePaused(async () => {
    const granting = `mutation { accessGrant(userId: "${person.id}", unitId: "${unit.id}") { accessGrant { id } } }`;
    expect((await ask(service, token, granting)).body.errors).toBeUndefined();
    expect(await decide('behind')).toBe('GRANTED by the primary');
  });
  await isDecided('GRANTED by the replica');
  expect(await sample('graph_queries_total{server="replica"}')).toBeGreaterThan(0);
  await owner.query('delete from app_public.units where id = $1', [unit.uuid]);
});

test('what a migration takes away the replica does not show any more', async () => {
  const reader = await newReader();
  await createUnit(tenant);
  const units = '{ app { users { totalCount } rootUnits { totalCount } } }';
  await until(async () => (await askWhere(reader, units)).data.app.rootUnits?.totalCount === 1);

  await whilePaused(async () => {
    await owner.query('alter policy select_graph_app on app_public.units using (false)');
    await service.reload();
    await isAsked(true);

    expect(await askWhere(reader, units)).toMatchObject({
      server: 'primary',
      data: { app: { rootUnits: { totalCount: 0 } } },
    });
  });

  await until(async () => (await askWhere(reader, units)).server === 'replica');
});

test('no query fails when the replica is stopped, and when it is back it is asked', async () => {
  const reader = await newReader();
  let stopped = false;
  const answers: string[] = [];
  const client = async (query: string) => {
    while (!stopped) {
      const { status, body } = await ask(service, reader, query);
      answers.push(`${status} ${body.errors?.[0]?.extensions.code ?? ''}`);
      // Some hundred of each are enough, and leave the processor to the replica's end and start.
      await delay(10);
    }
  };
  const clients = [count, count, twice, long].map(client);

  await replica.end('SIGQUIT');
  await isAsked(false);
  await replica.start();
  await isAsked(true);
  stopped = true;
  await Promise.all(clients);

  expect(new Set(answers)).toEqual(new Set(['200 ']));
  await until(async () => (await askWhere(reader, count)).server === 'replica');
});

test('a name that leads to a primary is followed to the replica that it leads to later', async () => {
  let target = primary;
  const proxy = await startTcpProxy(() => listenerOf(target.authUrl));
  const environment = { REPLICA_DATABASE_URL: byTcp(replica.authUrl, proxy.port), METRICS_PORT: '0' };
  const other = await startTestService(primary, environment);
  await until(() => other.logs.some((line) => line.includes('it is not in recovery')));

  target = replica;
  await until(async () => (await scrape(other.metricsPort ?? 0)).samples.get('graph_replica_asked') === 1);

  await other.stop();
  await proxy.stop();
});

test('a replica that was promoted is none any more', async () => {
  const reader = await newReader();

  await atReplica.query('select pg_promote()');
  const { server } = await askWhere(reader, count);
  await isAsked(false);

  expect(server).toBe('primary');
  expect(said('it is not in recovery')).toBe(1);
});

test('a replica that was promoted has the feed of its new timeline at once, and goes on sending webhooks', async () => {
  const feedOf = async (server: Pool) => {
    const read = 'select origin, app_hidden.has_webhook_charge() as "hasCharge" from feed.position()';
    return (await server.query(read)).rows[0];
  };

  const first = await feedOf(atReplica);
  await atReplica.query('checkpoint');

  expect(await feedOf(atReplica)).toEqual(first);
  expect((await feedOf(owner)).origin).not.toBe(first.origin);
  expect(first.hasCharge).toBe(true);
});

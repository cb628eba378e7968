import { Pool } from 'pg';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { type PostgresServer, startPostgresServer } from '../system/support/postgresServer.ts';
import { ask, createTenant, issueToken, type Tenant } from './support.ts';

/** A primary and its streaming replica, and a service that asks both. */
export type ReplicaPair = {
  readonly primary: PostgresServer;
  readonly replica: PostgresServer;
  /** The owner's connections to the primary, and those to the replica. */
  readonly owner: Pool;
  readonly atReplica: Pool;
  readonly service: TestService;
  readonly tenant: Tenant;
  stop(): Promise<void>;
};

export async function startReplicaPair(): Promise<ReplicaPair> {
  const careless = { fsync: 'off' };
  const primary = await startPostgresServer(careless);
  const replica = await primary.replicate(careless);
  const [owner, atReplica] = [poolOf(primary), poolOf(replica)];
  const tenant = await createTenant({ database: { owner } });
  const service = await startTestService(primary, { REPLICA_DATABASE_URL: replica.authUrl, METRICS_PORT: '0' });
  const stop = async () => {
    await service.stop();
    await Promise.all([owner.end(), atReplica.end()]);
    await replica.remove();
    await primary.remove();
  };
  return { primary, replica, owner, atReplica, service, tenant, stop };
}

function poolOf({ ownerUrl }: PostgresServer): Pool {
  const pool = new Pool({ connectionString: ownerUrl, max: 2 });
  pool.on('error', () => undefined);
  return pool;
}

export const count = '{ app { users { totalCount } } }';
/** Two statements, which have to see the same. */
export const twice = '{ app { users { totalCount } rootUnits { nodes { id } } } other: app { name } }';
/** By the offload thread. */
export const long = `{ app { users { totalCount } } more: app { ${[1, 2].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`;

type Data = {
  app: { users: { totalCount: number }; rootUnits?: { totalCount: number } };
  viewer: { fullName: string } | null;
};

/** Asks the service; returns the data, and the server that answered by the log. */
export async function askServer(service: TestService, token: string, query: string) {
  const answer = await ask(service, token, query);
  const line = await requestLine(service, String(answer.headers.get('X-Request-Id')));
  expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
  return { data: answer.body.data as Data, server: line.server };
}

/** An application's token that the replica serves. */
export async function createReader({ owner, service, tenant }: ReplicaPair): Promise<string> {
  const [applicationId] = (
    await owner.query(
      `insert into oauth.applications (organization_id, name, client_id, scopes)
       values ($1, 'Reader', gen_random_uuid(), '{app}') returning id`,
      [tenant.organizationId],
    )
  ).rows.map(({ id }) => id as string);
  const token = await issueToken({ ...tenant, applicationId: applicationId ?? '' }, ['app']);
  await until(async () => (await askServer(service, token, count)).server === 'replica');
  return token;
}

/** The log line of a request. */
export async function requestLine({ logs }: TestService, id: string): Promise<{ server?: string }> {
  let found: string | undefined;
  await until(() => {
    found = logs.findLast((text) => text.includes(`"${id}"`) && text.includes('"msg":"request"'));
    return found !== undefined;
  });
  return JSON.parse(found ?? '');
}

/** Pauses the replay of a replica, so that what is written meanwhile is on the primary alone. */
export async function whileReplayPauses({ atReplica }: ReplicaPair, work: () => Promise<void>): Promise<void> {
  await atReplica.query('select pg_wal_replay_pause()');
  await until(
    async () =>
      (await atReplica.query('select pg_get_wal_replay_pause_state()')).rows[0].pg_get_wal_replay_pause_state ===
      'paused',
  );
  try {
    await work();
  } finally {
    await atReplica.query('select pg_wal_replay_resume()');
  }
}

import { Pool } from 'pg';
import { startProcess, type TestProcess } from '../../support/process.ts';
import { startTestService, type TestService, testSecretKey, unthrottled } from '../../support/service.ts';
import { type PostgresServer, startPostgresServer } from './postgresServer.ts';

/** A cell: a PostgreSQL of its own, and a service on it. */
export type SystemCell = {
  readonly server: PostgresServer;
  readonly service: TestService;
  readonly owner: Pool;
  readonly ownerUrl: string;
  remove(): Promise<void>;
};

export async function startCell(overrides: Record<string, string> = {}): Promise<SystemCell> {
  const server = await startPostgresServer({ wal_level: 'logical', synchronous_commit: 'on' });
  const service = await startTestService(server, { ...unthrottled, ...overrides });
  const owner = new Pool({ connectionString: server.ownerUrl, max: 3 });
  owner.on('error', () => undefined);
  return {
    ...{ server, service, owner, ownerUrl: server.ownerUrl },
    async remove() {
      await service.stop();
      await owner.end();
      await server.remove();
    },
  };
}

/** `admin move-organization` in a process of its own, which may be killed. */
export function startMove(from: SystemCell, to: SystemCell, name: string, args: readonly string[] = []): TestProcess {
  const environment = { DATABASE_URL: from.ownerUrl, SECRET_KEY: testSecretKey, PATH: process.env.PATH ?? '' };
  return startProcess(['admin', 'move-organization', name, '--to', to.ownerUrl, ...args], environment);
}

/** The result of the command, which succeeds. */
export async function moved(process: TestProcess): Promise<Record<string, unknown>> {
  const { code } = await process.exited;
  expect({ code, stderr: process.output.stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(process.output.stdout);
}

/** Publications, slots and subscriptions of a cell. */
export async function leftOver({ owner }: Pick<SystemCell, 'owner'>): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(`
    select pubname::text as name from pg_publication union all select slot_name from pg_replication_slots
    union all select subname from pg_subscription`);
  return rows.map(({ name }) => name);
}

/** How often each status came, and the latencies of those that were answered with 200, in milliseconds. */
export type Watched = { readonly statuses: Map<number, number>; readonly latencies: number[] };

/** Sends the same request again and again, some at once, until it is stopped. */
export function watch(send: () => Promise<Response>, atOnce: number) {
  let watched: Watched = { statuses: new Map(), latencies: [] };
  let isWatching = true;
  const sender = async () => {
    while (isWatching) {
      const startedAt = performance.now();
      const { status } = await send().then(async (response) => {
        await response.text();
        return response;
      });
      watched.statuses.set(status, (watched.statuses.get(status) ?? 0) + 1);
      if (status === 200) watched.latencies.push(performance.now() - startedAt);
    }
  };
  const all = Promise.all(Array.from({ length: atOnce }, sender));
  return {
    /** What was seen since the last call. */
    take(): Watched {
      const taken = watched;
      watched = { statuses: new Map(), latencies: [] };
      return taken;
    },
    async stop() {
      isWatching = false;
      await all;
    },
  };
}

export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;

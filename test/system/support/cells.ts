import { Pool } from 'pg';
import { freePort } from '../../support/freePort.ts';
import { testPasswordCost } from '../../support/passwords.ts';
import { startProcess, type TestProcess } from '../../support/process.ts';
import { testSecretKey, unthrottled } from '../../support/service.ts';
import { startServer } from '../../support/startServer.ts';
import { addressOf } from '../../support/workers.ts';
import { type PostgresServer, startPostgresServer } from './postgresServer.ts';

/** A cell: a PostgreSQL of its own, and a service on it in a process of its own. */
export type SystemCell = {
  readonly server: PostgresServer;
  readonly url: string;
  readonly owner: Pool;
  readonly ownerUrl: string;
  /** Kills the service, and starts it again at the same address. */
  killService(): Promise<void>;
  remove(): Promise<void>;
};

export async function startCell(): Promise<SystemCell> {
  const server = await startPostgresServer({ wal_level: 'logical', synchronous_commit: 'on' });
  const environment = { AUTH_DATABASE_URL: server.authUrl, PORT: String(await freePort()), WEBHOOK_WORKER: 'false' };
  const start = () => startServer({ ...environment, LOG_LEVEL: 'error', ...unthrottled, ...testPasswordCost });
  let service = await start();
  const owner = new Pool({ connectionString: server.ownerUrl, max: 3 });
  owner.on('error', () => undefined);
  return {
    ...{ server, url: addressOf(service), owner, ownerUrl: server.ownerUrl },
    async killService() {
      service.signal('SIGKILL');
      await service.exited;
      service = await start();
    },
    async remove() {
      service.signal('SIGTERM');
      await service.exited;
      await owner.end();
      await server.remove();
    },
  };
}

/** `admin move-organization` in a process of its own, which may be killed. */
export function startMove(
  from: Pick<SystemCell, 'ownerUrl'>,
  to: Pick<SystemCell, 'ownerUrl'>,
  name: string,
  args: readonly string[] = [],
): TestProcess {
  const environment = { DATABASE_URL: from.ownerUrl, SECRET_KEY: testSecretKey, PATH: process.env.PATH ?? '' };
  return startProcess(['admin', 'move-organization', name, '--to', to.ownerUrl, ...args], environment);
}

/** The result of the command. @throws when it does not succeed, or says anything else */
export async function moved({ exited, output }: TestProcess): Promise<Record<string, unknown>> {
  const { code } = await exited;
  if (code !== 0 || output.stderr !== '') throw new Error(`move-organization ended with ${code}: ${output.stderr}`);
  return JSON.parse(output.stdout);
}

/** Publications, slots and subscriptions of a cell. */
export async function leftOver({ owner }: Pick<SystemCell, 'owner'>): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(`
    select pubname::text as name from pg_publication union all select slot_name from pg_replication_slots
    union all select subname from pg_subscription`);
  return rows.map(({ name }) => name);
}

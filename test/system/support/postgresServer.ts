import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { createCluster, endLeftovers } from '../../../src/database/embedded/embedded.ts';
import { findInstallation, type Installation } from '../../../src/database/embedded/postgresInstallation.ts';
import { migrate } from '../../../src/database/migrations/migrate.ts';
import { createLog } from '../../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../../support/dataDirectory.ts';
import { freePort } from '../../support/freePort.ts';
import { opened } from '../../support/openThings.ts';
import { until } from '../../support/until.ts';

export type PostgresServer = {
  readonly port: number;
  readonly ownerUrl: string;
  readonly authUrl: string;
  /** As whom it runs, when this process is root. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
  start(): Promise<void>;
  /** SIGINT ends its sessions, SIGQUIT does it without a checkpoint, SIGKILL leaves it no time for anything. */
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Kills it with all its sessions and helpers at once, as when the machine crashes. */
  crash(): Promise<void>;
  /** A streaming replica of it, for which it is restarted. */
  replicate(settings?: Settings): Promise<PostgresServer>;
  /** Stops it if it runs, and deletes all that it had. */
  remove(): Promise<void>;
};

/** Of postgresql.conf. */
type Settings = Record<string, string | number>;

const password = 'of-the-test';

/** A migrated PostgreSQL of the test's own, which looks after itself no more than the test does. */
export async function startPostgresServer(settings: Settings = {}): Promise<PostgresServer> {
  const server = await run(settings, (place) => createCluster(place, 'postgres', password));
  const administrator = new Client({ connectionString: server.ownerUrl.replace(/graph$/, 'postgres') });
  await administrator.connect();
  await administrator.query('create database graph');
  await administrator.end();
  await migrate(server, createLog('error'));
  return server;
}

async function run(settings: Settings, create: (place: Installation) => Promise<void>): Promise<PostgresServer> {
  const dataDir = await createTestDataDirectory();
  const place = await findInstallation(dataDir, createLog('error'));
  const port = await freePort();
  await create(place);
  const closed = opened(`PostgreSQL on ${port}`);
  const urlOf = (user: string) => `postgres://${user}:${password}@127.0.0.1:${port}/graph`;
  const given = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', ...settings };
  const args = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  let child: ChildProcess | null = null;
  const start = async () => {
    const started = spawn(join(place.binaries, 'postgres'), ['-D', place.cluster, ...args], {
      ...place.user,
      cwd: '/',
      env: { LC_ALL: 'C' },
      // Its sessions hold the last one, too.
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    child = started;
    await until(async () => {
      if (started.exitCode !== null) throw new Error(`PostgreSQL has ended with ${started.exitCode}`);
      const lines = (await readFile(join(place.cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
      return Number(lines[0]) === started.pid && lines[7]?.trim() === 'ready';
    });
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    child.kill(signal);
    await ended;
    // The files that the server could not remove itself.
    await endLeftovers(place);
  };

  await start();
  return {
    port,
    ownerUrl: urlOf('postgres'),
    authUrl: urlOf('authenticator'),
    user: place.user,
    start,
    end,
    async crash() {
      const { pid } = child ?? {};
      if (!pid) return;
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
      const ended = end('SIGKILL');
      for (const victim of children.split(' ').filter(Boolean)) killIfRunning(Number(victim));
      await ended;
    },
    async replicate(settings = {}) {
      const primary_conninfo = `host=127.0.0.1 port=${port} user=postgres password=${password}`;
      await end('SIGINT');
      const replica = await run({ wal_retrieve_retry_interval: 100, ...settings, primary_conninfo }, async (copy) => {
        await promisify(execFile)('cp', ['--archive', place.cluster, copy.cluster]);
        await writeFile(join(copy.cluster, 'standby.signal'), '');
      });
      await start();
      return replica;
    },
    async remove() {
      await end('SIGQUIT');
      await removeTestDataDirectory(dataDir);
      closed();
    },
  };
}

function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

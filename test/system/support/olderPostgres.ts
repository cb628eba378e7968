import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placePostgres } from '../../../src/database/postgresPlace.ts';
import { createLog } from '../../../src/log.ts';
import { opened } from '../../support/openThings.ts';

/** Debian's, with the clients of the same version. */
export const olderBinaries = '/usr/lib/postgresql/15/bin';

export type OlderPostgres = { readonly port: number; stop(): Promise<void> };

/** Makes the cluster `postgres` in the data directory by PostgreSQL 15 and runs it; its superuser is `postgres`. */
export async function startOlderPostgres(dataDir: string, password: string): Promise<OlderPostgres> {
  await access(join(olderBinaries, 'initdb')).catch((cause: unknown) => {
    throw new Error(`There is no ${olderBinaries}. On Debian 12: apt-get install postgresql-15`, { cause });
  });
  const { cluster, user } = await placePostgres(dataDir, createLog('error'));
  const run = (program: string, args: string[]) =>
    promisify(execFile)(join(olderBinaries, program), args, { ...user, cwd: '/', env: { LC_ALL: 'C' } });

  await writeFile(`${cluster}.password`, password, { mode: 0o600 });
  await promisify(execFile)('install', ['--directory', '--mode=700', cluster]);
  if (user) for (const path of [`${cluster}.password`, cluster]) await chown(path, user.uid, user.gid);
  const like = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--username=postgres'];
  await run('initdb', [`--pgdata=${cluster}`, `--pwfile=${cluster}.password`, ...like]);

  const port = await freePort();
  const closed = opened(`PostgreSQL 15 on ${port}`);
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  // Its output keeps a pipe open for as long as the server runs.
  await run('pg_ctl', [
    `--pgdata=${cluster}`,
    `--log=${join(cluster, 'log')}`,
    `--options=${settings}`,
    '--wait',
    'start',
  ]);
  return {
    port,
    async stop() {
      await run('pg_ctl', [`--pgdata=${cluster}`, '--mode=fast', '--wait', 'stop']);
      closed();
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

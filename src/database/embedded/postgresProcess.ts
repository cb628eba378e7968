import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { access, chown, mkdir, open, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartupError } from '../../errors/startupError.ts';
import type { Log } from '../../log.ts';
import { type Installation, socketName, socketPort } from './postgresInstallation.ts';

/**
 * Runs the server on a cluster until `stop`; resolves when it accepts connections.
 * In a session of its own, so that a signal to this process' group does not reach it. A server that dies on its own is started again.
 */
export async function runPostgres(installation: Installation, log: Log): Promise<{ stop(): Promise<void> }> {
  let stopping = false;
  let restarted: Promise<void> | null = null;
  let child = await start();
  // However this process ends, short of SIGKILL, the database must not be left alone.
  const stopWithProcess = () => child.kill('SIGINT');
  process.once('exit', stopWithProcess);

  async function start(): Promise<ChildProcess> {
    const started = await spawnPostgres(installation);
    started.once('exit', (code, signal) => {
      if (stopping) return;
      log.error({ code, signal }, 'the embedded database ended; starting it again');
      restarted = restart();
    });
    return started;
  }

  /** Retries until it succeeds: what hinders it, such as a full disk, may pass. */
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
      process.off('exit', stopWithProcess);
      await restarted;
      await stopPostgres(child);
    },
  };
}

/** Creates the cluster unless it exists: UTF-8, collation by code point, passwords only, checksums on. */
export async function createCluster(installation: Installation, ownerName: string, password: string): Promise<void> {
  if (await exists(join(installation.cluster, 'PG_VERSION'))) return;

  // Made under another name, so that a cluster that exists is always whole. A new one each time: an initdb that outlived
  // its process may still be writing to the last.
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
    const reason = Error.isError(error) && 'stderr' in error ? error.stderr : error;
    throw new StartupError(`The embedded database cannot be created. ${brokenInstallation}\n${reason}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, installation.cluster);
}

/**
 * Ends what an earlier process left running on the cluster, and removes its stale lock files.
 * Their process number may be another program's by now, so a server is known by its working directory instead.
 */
export async function endLeftovers({ cluster, socketDirectory }: Installation): Promise<void> {
  const deadline = Date.now() + 8000;
  const signalled = new Set<number>();
  for (;;) {
    const running = await processesOn(cluster);
    if (running.length === 0) break;
    const postmaster = await postmasterPid(cluster);
    const isLate = Date.now() > deadline;
    for (const pid of running.includes(postmaster) && !isLate ? [postmaster] : running) {
      if (isLate) kill(pid, 'SIGQUIT');
      else if (!signalled.has(pid)) kill(pid, pid === postmaster ? 'SIGINT' : 'SIGQUIT');
      signalled.add(pid);
    }
    await delay(20);
  }
  const socket = join(socketDirectory, socketName);
  for (const stale of [join(cluster, 'postmaster.pid'), socket, `${socket}.lock`]) await rm(stale, { force: true });
}

/** Whether a server runs on the cluster and accepts connections. */
export async function isReady(cluster: string): Promise<boolean> {
  const lines = await pidFile(cluster);
  return lines[7]?.trim() === 'ready' && (await processesOn(cluster)).includes(Number(lines[0]));
}

async function removeDrafts(cluster: string): Promise<void> {
  for (const name of await readdir(dirname(cluster))) {
    const path = join(dirname(cluster), name);
    if (path.startsWith(`${cluster}.new-`)) await rm(path, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function spawnPostgres(installation: Installation): Promise<ChildProcess> {
  // Not a pipe: the server may outlive this process.
  const logFile = await open(installation.logFile, 'w', 0o600);
  const args = Object.entries(serverSettings(installation)).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(installation.binaries, 'postgres'), ['-D', installation.cluster, ...args], {
    ...surroundings(installation),
    stdio: ['ignore', logFile.fd, logFile.fd],
  });
  const ended = Promise.race([once(child, 'exit'), once(child, 'error')]).then(() => 'ended' as const);
  await logFile.close();

  for (;;) {
    const lines = await pidFile(installation.cluster);
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return child;
    if ((await Promise.race([ended, delay(10)])) === 'ended') break;
  }
  const said = await readFile(installation.logFile, 'utf8').catch(() => '');
  throw new StartupError(`The embedded database does not start. ${brokenInstallation}\n${said.slice(-2000)}`);
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
    // Errors reach the service, which logs them; here they would bring statements and rows into a file that grows.
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

/** Every `postgres` process whose working directory is the cluster: the server and its children. */
async function processesOn(cluster: string): Promise<number[]> {
  const candidates = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(candidates.map((pid) => isPostgresOn(cluster, pid)));
  return candidates.filter((_, index) => found[index]).map(Number);
}

async function isPostgresOn(cluster: string, pid: string): Promise<boolean> {
  try {
    if ((await readlink(`/proc/${pid}/cwd`)) !== cluster) return false;
    // " (deleted)" follows the name when the installation was replaced meanwhile.
    return basename(await readlink(`/proc/${pid}/exe`)).startsWith('postgres');
  } catch {
    // Ended meanwhile, or another user's.
    return false;
  }
}

const postmasterPid = async (cluster: string) => Number((await pidFile(cluster))[0]);

/** The lines of `postmaster.pid`: 1 its number, 8 the state. */
async function pidFile(cluster: string): Promise<string[]> {
  return (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

/** No environment of this process, which may hold secrets, and no directory that the user cannot enter. */
function surroundings({ user }: Installation) {
  return { ...user, cwd: '/', env: { LC_ALL: 'C' }, detached: true };
}

const brokenInstallation = 'If it was installed with --ignore-scripts, `npm ci` repairs it.';

const run = promisify(execFile);

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

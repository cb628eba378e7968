import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { byTcp } from './database.ts';
import { freePort } from './freePort.ts';
import { until } from './until.ts';

export type PgBouncer = {
  /** The URL of the authenticator, by way of it. */
  readonly authUrl: string;
  /** Whether it keeps prepared statements of transactions; since 1.21. */
  readonly preparesStatements: boolean;
  stop(): Promise<void>;
};

/**
 * PgBouncer as `deploy/pgbouncer` has it, but for where it listens, and for every database of the server that `authUrl` names.
 *
 * @param program its path, or its name on PATH
 */
export async function startPgBouncer(program: string, authUrl: string): Promise<PgBouncer> {
  const { stdout: version } = await run(program, ['--version']).catch((cause: unknown) => {
    throw new Error(`There is no ${program}. On Debian: apt-get install pgbouncer`, { cause });
  });
  const [, major = '', minor = ''] = /PgBouncer (\d+)\.(\d+)/.exec(version) ?? [];
  const preparesStatements = Number(major) > 1 || Number(minor) >= 21;

  const folder = await mkdtemp(join(tmpdir(), 'graph-query-service-pgbouncer-'));
  const server = new URL(authUrl);
  const port = await freePort();
  const users = join(folder, 'userlist.txt');
  const settings = join(folder, 'pgbouncer.ini');
  await writeFile(users, `"${server.username}" "${server.password}"\n`);
  await writeFile(settings, await settingsFor({ server, port, users, preparesStatements }));
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? await userNamed('postgres') : null;
  await chmod(folder, 0o755);
  if (user) for (const file of [users, settings]) await chown(file, user.uid, user.gid);

  const child = spawn(program, ['--quiet', settings], { ...user, stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit');
  await until(() => answers(port));
  return {
    authUrl: byTcp(authUrl, port),
    preparesStatements,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

type Place = { server: URL; port: number; users: string; preparesStatements: boolean };

async function settingsFor({ server, port, users, preparesStatements }: Place): Promise<string> {
  const shipped = fileURLToPath(new URL('../../deploy/pgbouncer/pgbouncer.ini', import.meta.url));
  const replacements: [RegExp, string][] = [
    [
      /^graph = host=primary port=5432 dbname=graph /m,
      `* = host=${server.searchParams.get('host') ?? server.hostname} port=${server.searchParams.get('port') ?? server.port} `,
    ],
    [/^listen_addr = .*/m, 'listen_addr = 127.0.0.1'],
    [/^listen_port = .*/m, `listen_port = ${port}`],
    [/^auth_file = .*/m, `auth_file = ${users}`],
    ...(preparesStatements ? [] : [[/^max_prepared_statements = .*\n/m, ''] satisfies [RegExp, string]]),
  ];
  return replacements.reduce(
    (text, [pattern, by]) => {
      if (!pattern.test(text)) throw new Error(`${shipped} has nothing like ${pattern}`);
      return text.replace(pattern, by);
    },
    await readFile(shipped, 'utf8'),
  );
}

async function userNamed(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const run = promisify(execFile);

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { asStarted } from '../../support/asStarted.ts';

export const peerTitles = {
  ours: 'this service',
  sql: 'hand-written SQL',
  stock: 'stock PostGraphile',
  apollo: 'Apollo Server, DataLoader',
  mercurius: 'Mercurius, jit, loaders',
} as const;

export type PeerName = keyof typeof peerTitles;
export const peerNames = Object.keys(peerTitles) as PeerName[];

/** One of those compared, in a process of its own. */
export type Peer = { readonly name: PeerName; readonly port: number; readonly pid: number; stop(): Promise<void> };

/** Starts it with the authenticator's connection; resolves when it answers. None of them logs requests. */
export async function startPeer(name: PeerName, authUrl: string): Promise<Peer> {
  const child = name === 'ours' ? spawnService(authUrl) : forkPeer(name, authUrl);
  // However this process ends.
  const kill = () => child.kill();
  process.once('exit', kill);
  const stop = async () => {
    process.off('exit', kill);
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  try {
    const failed = once(child, 'exit').then(() => {
      throw new Error(`${name} ended before it listened.`);
    });
    // Later it is stopped on purpose.
    failed.catch(() => undefined);
    const port = await Promise.race([name === 'ours' ? portOfService(child) : portOfPeer(child), failed]);
    if (child.pid === undefined) throw new Error(`${name} does not run.`);
    return { name, port, pid: child.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const root = join(import.meta.dirname, '../../..');

/** As `npm start` does, with a log of warnings only; in one process, since neither WORKERS nor NODE_ENV asks for more. */
function spawnService(authUrl: string): ChildProcess {
  return spawn(process.execPath, [...asStarted.options, join(root, 'src/main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...asStarted.env,
      HOST: '127.0.0.1',
      PORT: '0',
      AUTH_DATABASE_URL: authUrl,
      SECRET_KEY: randomBytes(32).toString('base64'),
      LOG_LEVEL: 'warn',
    },
  });
}

function forkPeer(name: PeerName, authUrl: string): ChildProcess {
  return fork(join(import.meta.dirname, 'servePeer.ts'), [name], {
    env: { NODE_ENV: 'production', GRAPHILE_ENV: 'production', AUTH_DATABASE_URL: authUrl },
  });
}

async function portOfService(child: ChildProcess): Promise<number> {
  if (!child.stdout) throw new Error('The service has no output.');
  for await (const line of createInterface(child.stdout)) {
    const [, url] = /^Graph Query Service: (\S+)/.exec(line) ?? [];
    if (url) return Number(new URL(url).port);
  }
  throw new Error('The service ended before it said where it listens.');
}

async function portOfPeer(child: ChildProcess): Promise<number> {
  const [port] = await once(child, 'message');
  return port;
}

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PeerName } from './servers/startPeer.ts';

/** Installs the package of the peers that are servers of their own, once; the rest of the project needs none of it. */
export function installPeers(peers: readonly PeerName[]): void {
  if (!peers.includes('apollo') && !peers.includes('mercurius')) return;
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: folder, stdio: 'inherit' });
  if (!existsSync(join(folder, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund');
  run(join(root, 'node_modules/.bin/tsc'));
}

const root = join(import.meta.dirname, '../..');
const folder = join(import.meta.dirname, 'servers/resolvers');

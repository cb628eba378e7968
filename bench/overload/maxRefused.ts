import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { throughput } from './throughput.ts';

/** How many requests in a second a thread of Node.js can refuse on this machine, measured with a bare server. */
export async function maxRefused(request: Buffer, clients: number, seconds: number): Promise<number> {
  const child = fork(join(import.meta.dirname, 'bareServer.ts'));
  try {
    const [port] = (await once(child, 'message')) as [number];
    return await throughput(port, request, clients, seconds, 503);
  } finally {
    child.kill();
  }
}

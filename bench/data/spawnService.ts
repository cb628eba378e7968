import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { asStarted } from '../support/asStarted.ts';

/**
 * Starts the service in a process of its own, so that its client's work is not its own.
 * `pid` is that of the process; with several workers that of their supervisor.
 */
export async function spawnService(environment: Record<string, string>) {
  const service = spawn(process.execPath, [...asStarted.options, main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...asStarted.env, HOST: '127.0.0.1', PORT: '0', ...environment },
  });
  const stop = async (): Promise<void> => {
    if (service.exitCode !== null) return;
    service.kill('SIGTERM');
    await once(service, 'exit');
  };
  try {
    return { url: await addressOf(service), pid: service.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

async function addressOf(service: ChildProcess): Promise<string> {
  if (!service.stdout) throw new Error('The service has no output.');
  for await (const line of createInterface(service.stdout)) {
    const [, url] = /^Graph Query Service: (\S+)/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('The service ended before it said where it listens.');
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { median } from './support/measured.ts';

/**
 * `node bench/oauthTiming.ts`: timing side channel, whether the time of a refusal discloses what was wrong.
 * Exits with 1 when the medians of two refusals that look alike differ by more than 5 %.
 */
const tries = 200;
const tolerance = 0.05;

const dataDir = await mkdtemp(join(await realpath(tmpdir()), 'graph-query-service-bench-'));
await chmod(dataDir, 0o711);
const server = spawn(process.execPath, ['src/main.ts'], {
  env: {
    PATH: process.env.PATH,
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'fatal',
    THROTTLE_REQUESTS_PER_MINUTE: '1000000000',
    THROTTLE_FAILURES_PER_MINUTE: '1000000000',
    THROTTLE_FAILURES_PER_ACCOUNT: '1000000',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await addressOf(server.stdout);
  process.exitCode = (await compareRefusals(url)) ? 0 : 1;
} finally {
  server.kill('SIGTERM');
  await once(server, 'exit');
  await rm(dataDir, { recursive: true, force: true });
}

/** As the server says when it has started. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input: output });
  const [line] = await once(lines, 'line');
  const address = /^Graph Query Service: (.*)$/.exec(line)?.[1];
  if (!address) throw new Error(`The server said: ${line}`);
  return address;
}

async function compareRefusals(url: string): Promise<boolean> {
  const client = (client_id: string) => ({ grant_type: 'client_credentials', client_id, client_secret: 'wrong' });
  const person = (username: string) => ({
    grant_type: 'password',
    client_id: 'demo-mobile',
    username,
    password: 'wrong',
  });
  const clients = await compare(url, ['unknown client', client('nobody')], ['wrong secret', client('demo-backend')]);
  const people = await compare(
    url,
    ['unknown user', person('nobody@demo.test')],
    ['wrong password', person('ada@demo.test')],
  );
  return clients && people;
}

type Refusal = readonly [name: string, form: Record<string, string>];

/** In turns, so that a slow moment of the machine hits both. */
async function compare(url: string, one: Refusal, other: Refusal): Promise<boolean> {
  const times: number[][] = [[], []];
  const bodies = new Set<string>();
  for (let round = -20; round < tries; round++) {
    // Each is the first one in turn, too.
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const [, form] = index === 0 ? one : other;
      const startedAt = performance.now();
      const response = await post(url, form);
      bodies.add(`${response.status} ${await response.text()}`);
      // The first ones warm up.
      if (round >= 0) times[index]?.push(performance.now() - startedAt);
    }
  }
  const [first = Number.NaN, second = Number.NaN] = times.map(median);
  const difference = Math.abs(first - second) / Math.min(first, second);
  console.log(
    `${one[0]} ${first.toFixed(2)} ms, ${other[0]} ${second.toFixed(2)} ms: ` +
      `medians of ${tries} differ by ${(100 * difference).toFixed(1)} %, ${bodies.size === 1 ? 'identical' : 'DIFFERENT'} answers`,
  );
  return difference <= tolerance && bodies.size === 1;
}

function post(url: string, form: Record<string, string>): Promise<Response> {
  return fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
}

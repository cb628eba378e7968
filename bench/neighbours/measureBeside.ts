import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TreeDatabase, TreeService } from '../data/startTree.ts';
import { percentile } from '../support/measured.ts';
import { createSender } from './createSender.ts';
import { explore, keepBusy } from './keepBusy.ts';
import { form, graphql } from './requests.ts';
import type { Shape } from './shape.ts';
import { small } from './shapes.ts';
import type { Turn } from './watchTurns.ts';

/** How long a shape is sent, in seconds. */
export const seconds = 8;
const neighbourConnections = 4;
/** Here both have one address. */
export const unthrottled = { THROTTLE_REQUESTS_PER_MINUTE: '1000000', THROTTLE_FAILURES_PER_MINUTE: '1000000' };

/**
 * How the organization `Neighbour` fares beside shapes that `Tree` and `Busy` send: its small query on four connections, and a request
 * for a token every quarter of a second. Each has a service of its own, so that none pays for what came before.
 */
export async function measureBeside(database: TreeDatabase, shapes: readonly Shape[]) {
  const folder = await mkdtemp(join(tmpdir(), 'turns-'));
  const turnsFile = join(folder, 'turns.json');
  const watchTurns = `--import=${new URL('watchTurns.ts', import.meta.url)}`;
  const service = await database.startService({ ...unthrottled, NODE_OPTIONS: watchTurns, TURNS_FILE: turnsFile });
  try {
    const token = await service.grantToken('neighbour');
    const busy = { token: service.token, known: await explore(service, service.token) };
    await asking(service, token, 500);
    const warmAt = Date.now();
    const working = new AbortController();
    const sending = shapes.map((shape) => keepBusy(service, shape, busy, working.signal));
    const tokens = askForTokens(service, working.signal);
    await delay(500);
    const deadline = AbortSignal.timeout(seconds * 1000);
    const latencies = await asking(service, token, Number.POSITIVE_INFINITY, deadline);
    working.abort();
    const served = latencies.filter(({ status }) => status === 200).map(({ ms }) => ms);
    const at = (share: number) => Math.round(percentile(served, share));
    const outcomes = await Promise.all(sending);
    const megabytes = Math.round((await service.peakResidentBytes()) / 1e6);
    await service.stop();
    return {
      refused: latencies.length - served.length,
      'p50 ms': at(0.5),
      'p99 ms': at(0.99),
      'longest ms': at(1),
      'token ms': Math.round(await tokens),
      'turn ms': await longestTurnMs(turnsFile, warmAt),
      MB: megabytes,
      'sent/s': Math.round(outcomes.reduce((sum, { sent }) => sum + sent, 0) / seconds),
      statuses: [...new Set(outcomes.flatMap(({ statuses }) => statuses))].join(' '),
    };
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

/** The neighbour's own query, one after the other on each connection. */
async function asking({ url }: TreeService, token: string, max: number, signal?: AbortSignal) {
  const sender = createSender(url, neighbourConnections);
  const latencies: { status: number; ms: number }[] = [];
  const request = graphql(JSON.stringify({ query: small }), token);
  const one = async () => {
    while (!signal?.aborted && latencies.length < max) {
      const begun = performance.now();
      const status = await sender.send(request);
      latencies.push({ status, ms: performance.now() - begun });
    }
  };
  await Promise.all(Array.from({ length: neighbourConnections }, one));
  sender.close();
  return latencies;
}

/** @returns the longest, in milliseconds */
async function askForTokens({ url, clientSecret }: TreeService, signal: AbortSignal): Promise<number> {
  const credentials = { grant_type: 'client_credentials', client_id: 'neighbour', client_secret: clientSecret };
  const sender = createSender(url, 1);
  let longest = 0;
  while (!signal.aborted) {
    const begun = performance.now();
    const status = await sender.send(form(credentials));
    longest = Math.max(longest, status === 200 ? performance.now() - begun : Number.POSITIVE_INFINITY);
    await delay(250);
  }
  sender.close();
  return longest;
}

async function longestTurnMs(file: string, since: number): Promise<number> {
  const turns = JSON.parse(await readFile(file, 'utf8')) as Turn[];
  return Math.round(Math.max(0, ...turns.filter(({ endedAt }) => endedAt > since).map(({ cpuMs }) => cpuMs)));
}

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTreeDatabase, type TreeDatabase, type TreeService } from './data/startTree.ts';
import { createSender, type Sent } from './neighbours/createSender.ts';
import { type Shape, shapes, small } from './neighbours/shapes.ts';
import type { Turn } from './neighbours/watchTurns.ts';
import { percentile } from './support/measured.ts';

/**
 * `npm run bench neighbours`: how an organization fares beside each of the shapes, which another sends for 8 s on 16 connections, unless
 * the shape says how many: its small query on four connections, and a request for a token every quarter of a second. Exits with 1 when
 * one of its requests is refused, or a bound is missed. `turn ms` is processor time of the main thread, which a busy machine does not change.
 * `node bench/neighbours.ts updates` sends only the shapes with `updates` in their names.
 */
const bounds = { refused: 0, 'p99 ms': 250, 'longest ms': 1000, 'token ms': 1000, 'turn ms': 250, MB: 600 };
const connections = { busy: 16, neighbour: 4 };
const seconds = 8;
/** Here both have one address. */
const unthrottled = { THROTTLE_REQUESTS_PER_MINUTE: '1000000', THROTTLE_FAILURES_PER_MINUTE: '1000000' };

const [, , part = ''] = process.argv;
const database = await startTreeDatabase({
  beside: [
    { name: 'Busy', applications: { busy: ['app', 'me'] }, users: [] },
    {
      name: 'Neighbour',
      applications: { neighbour: ['app'] },
      users: [1, 2, 3].map((n) => ({ externalIdentifier: `n-${n}`, fullName: `N ${n}`, email: `n-${n}@n.test` })),
    },
  ],
  // As long as a name may be.
  sql: `update app_public.users set full_name = rpad(full_name, 200, '-and-so-on') where external_identifier like 'user-%'`,
});
try {
  const rows = [];
  for (const [shape, sent] of Object.entries(shapes)) {
    if (!shape.includes(part)) continue;
    const row = { shape, ...(await besides(database, sent)) };
    rows.push(row);
    console.log(JSON.stringify(row));
  }
  console.table(rows);
  const names = Object.keys(bounds) as (keyof typeof bounds)[];
  process.exitCode = rows.every((row) => names.every((name) => row[name] <= bounds[name])) ? 0 : 1;
} finally {
  await database.stop();
}

/** Each has a service of its own, so that none pays for what came before. */
async function besides(database: TreeDatabase, shape: Shape) {
  const folder = await mkdtemp(join(tmpdir(), 'turns-'));
  const turnsFile = join(folder, 'turns.json');
  const watchTurns = `--import=${new URL('neighbours/watchTurns.ts', import.meta.url)}`;
  const service = await database.startService({ ...unthrottled, NODE_OPTIONS: watchTurns, TURNS_FILE: turnsFile });
  try {
    const token = await service.grantToken('neighbour');
    await asking(service, token, 500);
    const warmAt = Date.now();
    const working = new AbortController();
    const busy = keepBusy(service, shape, working.signal);
    const memory = watchMemory(service, working.signal);
    const tokens = askForTokens(service, working.signal);
    await delay(500);
    const deadline = AbortSignal.timeout(seconds * 1000);
    const latencies = await asking(service, token, Number.POSITIVE_INFINITY, deadline);
    working.abort();
    const served = latencies.filter(({ status }) => status === 200).map(({ ms }) => ms);
    const at = (share: number) => Math.round(percentile(served, share));
    const { sent, statuses } = await busy;
    const megabytes = await memory;
    await service.stop();
    const turns = JSON.parse(await readFile(turnsFile, 'utf8')) as Turn[];
    const turnMs = Math.max(0, ...turns.filter(({ endedAt }) => endedAt > warmAt).map(({ cpuMs }) => cpuMs));
    return {
      refused: latencies.length - served.length,
      'p50 ms': at(0.5),
      'p99 ms': at(0.99),
      'longest ms': at(1),
      'token ms': Math.round(await tokens),
      'turn ms': Math.round(turnMs),
      MB: Math.round(megabytes),
      'sent/s': Math.round(sent / seconds),
      statuses: statuses.join(' '),
    };
  } finally {
    await service.stop();
    await rm(folder, { recursive: true });
  }
}

/** The neighbour's own query, one after the other on each connection. */
async function asking({ url }: TreeService, token: string, most: number, signal?: AbortSignal) {
  const sender = createSender(url, connections.neighbour);
  const latencies: { status: number; ms: number }[] = [];
  const one = async () => {
    while (!signal?.aborted && latencies.length < most) {
      const begun = performance.now();
      const status = await sender.send(graphql({ query: small }, token));
      latencies.push({ status, ms: performance.now() - begun });
    }
  };
  await Promise.all(Array.from({ length: connections.neighbour }, one));
  sender.close();
  return latencies;
}

async function keepBusy({ url, token, clientSecret, send }: TreeService, shape: Shape, signal: AbortSignal) {
  const { text } = await send(
    '{ app { users(first: 1000) { nodes { id } } changes(first: 1) { pageInfo { endCursor } } } }',
  );
  const ids = [...text.matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id);
  const [, cursor = ''] = /"endCursor":"([^"]+)"/.exec(text) ?? [];
  const count = shape.connections ?? connections.busy;
  const sender = createSender(url, count, shape.isUnread);
  const ended = new Promise<0>((resolve) => signal.addEventListener('abort', () => resolve(0)));
  const statuses = new Set<number>();
  let sent = 0;
  const one = async () => {
    while (!signal.aborted) {
      const written = shape.write(sent++, ids, cursor);
      const request =
        'query' in written
          ? graphql(written, shape.hasToken ? token : null)
          : form({ ...written.form, client_secret: clientSecret });
      const status = await Promise.race([sender.send(request), ended]);
      if (status === 0) await delay(50);
      else statuses.add(status);
    }
  };
  await Promise.all(Array.from({ length: count }, one));
  sender.close();
  return { sent, statuses: [...statuses] };
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

/** @returns the most, in megabytes */
async function watchMemory(service: TreeService, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    most = Math.max(most, await service.residentBytes());
    await delay(200);
  }
  return most / 1e6;
}

function graphql(operation: { readonly query: string; readonly variables?: object }, token: string | null): Sent {
  const headers = {
    'Content-Type': 'application/json',
    Accept: 'application/graphql-response+json, text/event-stream',
  };
  return {
    path: '/graphql',
    headers: token === null ? headers : { ...headers, Authorization: `Bearer ${token}` },
    body: JSON.stringify(operation),
  };
}

function form(values: Record<string, string>): Sent {
  return {
    path: '/oauth/token',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams(values)}`,
  };
}

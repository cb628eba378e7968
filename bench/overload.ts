import { readdir, readFile } from 'node:fs/promises';
import { startTree } from './data/startTree.ts';
import { type Outcome, sendAtRate } from './overload/sendAtRate.ts';
import { throughput } from './overload/throughput.ts';
import { toBytes } from './overload/toBytes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { residentMegabytes } from './peers/measure/processTimes.ts';

/**
 * `npm run bench overload`: ten times what the service can do. Exits with 1 unless the 99th percentile of those that it serves
 * stays within twice that of an idle service, the others get 503 within 100 ms, and each process stays below 400 MB.
 * `npm run bench overload 2` has two workers.
 */
const seconds = 30;
const factor = 10;
const clients = 16;
/** 50 users and their cards. */
const query = '{ app { users(first: 50) { nodes { id fullName email cardAssignments { card { name } } } } } }';
const [, , workers = '1'] = process.argv;

exitOnSignals();
const tree = await startTree({ WORKERS: workers, LOG_LEVEL: 'warn' });
try {
  const port = Number(new URL(tree.url).port);
  const request = toBytes(tree.token, query);
  await throughput(port, request, clients, 10);
  const sustainable = await throughput(port, request, clients, 10);
  console.log(`${Math.round(sustainable)} requests/s with ${clients} clients`);
  const rest = await sendAtRate({ port, request, perSecond: sustainable / 10, seconds, connections: 50 });
  const watch = watchMemory(await processesOf(tree.pid));
  const overload = await sendAtRate({ port, request, perSecond: sustainable * factor, seconds, connections: 1000 });
  const mostMegabytes = await watch.stop();

  const served = percentile(overload.get(200), 0.99);
  const idle = percentile(rest.get(200), 0.99);
  const refused = percentile(overload.get(503), 1);
  const rows = [
    { what: 'sustainable requests/s', measured: sustainable },
    { what: `served/s at ${factor} times as many`, measured: (overload.get(200) ?? []).length / seconds },
    { what: 'p50 ms at a tenth', measured: percentile(rest.get(200), 0.5) },
    { what: 'p99 ms at a tenth', measured: idle },
    { what: 'p50 ms of those served', measured: percentile(overload.get(200), 0.5) },
    { what: 'p99 ms of those served', measured: served, bound: 2 * idle },
    { what: 'p99 ms of 503', measured: percentile(overload.get(503), 0.99) },
    { what: 'longest ms of 503', measured: refused, bound: 100 },
    { what: 'neither 200 nor 503', measured: countOthers(overload) + countOthers(rest), bound: 0 },
    { what: 'most MB of a process', measured: mostMegabytes, bound: 400 },
  ];
  console.table(
    rows.map(({ measured, bound, ...row }) => ({ ...row, measured: round(measured), bound: round(bound) })),
  );
  process.exitCode = rows.every(({ measured, bound }) => bound === undefined || measured <= bound) ? 0 : 1;
} finally {
  await tree.stop();
}

/** The workers of a supervisor. */
async function processesOf(pid: number): Promise<number[]> {
  const [task = ''] = await readdir(`/proc/${pid}/task`);
  const children = await readFile(`/proc/${pid}/task/${task}/children`, 'utf8');
  return children.split(' ').filter(Boolean).map(Number);
}

function watchMemory(pids: number[]) {
  let most = 0;
  const look = async () => {
    most = Math.max(most, ...(await Promise.all(pids.map((pid) => residentMegabytes(pid).catch(() => 0)))));
  };
  const timer = setInterval(() => void look(), 500);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return most;
    },
  };
}

function countOthers(outcome: Outcome): number {
  return [...outcome].reduce((sum, [status, { length }]) => sum + (status === 200 || status === 503 ? 0 : length), 0);
}

function percentile(latencies: number[] = [], part: number): number {
  const sorted = latencies.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function round(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10) / 10;
}

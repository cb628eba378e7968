import { startTree } from './data/startTree.ts';
import { type Outcome, sendAtRate } from './overload/sendAtRate.ts';
import { throughput } from './overload/throughput.ts';
import { toBytes } from './overload/toBytes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { childrenOf, residentMegabytes } from './peers/measure/processTimes.ts';

/**
 * `npm run bench overload`: ten times what the service can do. Exits with 1 unless the 99th percentile of those that it serves
 * stays within twice that of an idle service, the others get 503 within 100 ms, and each process stays below 400 MB. What follows the first two
 * seconds is also told apart: until it knows that this is no crowd that will soon have gone, the service lets 256 wait.
 * `npm run bench overload 2` has two workers.
 */
const seconds = 30;
const onsetSeconds = 2;
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
  const idle = await sendAtRate({ port, request, perSecond: sustainable / 10, seconds, connections: 50 });
  const watch = watchMemory(await childrenOf(tree.pid));
  const perSecond = sustainable * factor;
  const overload = await sendAtRate({ port, request, perSecond, seconds, connections: 1000 });
  const mostMegabytes = await watch.stop();

  const later = overload.filter(({ dueMs }) => dueMs >= onsetSeconds * 1000);
  const idleP99 = percentile(idle, 200, 0.99);
  const rows = [
    { what: 'sustainable requests/s', measured: sustainable },
    { what: `served/s at ${factor} times as many`, measured: count(overload, 200) / seconds },
    { what: 'p50 ms at a tenth', measured: percentile(idle, 200, 0.5) },
    { what: 'p99 ms at a tenth', measured: idleP99 },
    { what: 'p50 ms of those served', measured: percentile(overload, 200, 0.5) },
    { what: 'p99 ms of those served', measured: percentile(overload, 200, 0.99), bound: 2 * idleP99 },
    { what: 'p99 ms of 503', measured: percentile(overload, 503, 0.99) },
    { what: 'longest ms of 503', measured: percentile(overload, 503, 1), bound: 100 },
    { what: 'after two seconds: p99 ms of those served', measured: percentile(later, 200, 0.99) },
    { what: 'after two seconds: longest ms of 503', measured: percentile(later, 503, 1) },
    { what: 'neither 200 nor 503', measured: countOthers(overload) + countOthers(idle), bound: 0 },
    { what: 'most MB of a process', measured: mostMegabytes, bound: 400 },
  ];
  console.table(
    rows.map(({ measured, bound, ...row }) => ({ ...row, measured: round(measured), bound: round(bound) })),
  );
  process.exitCode = rows.every(({ measured, bound }) => bound === undefined || measured <= bound) ? 0 : 1;
} finally {
  await tree.stop();
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

function count(outcomes: readonly Outcome[], asked: number): number {
  return outcomes.filter(({ status }) => status === asked).length;
}

function countOthers(outcomes: readonly Outcome[]): number {
  return outcomes.length - count(outcomes, 200) - count(outcomes, 503);
}

function percentile(outcomes: readonly Outcome[], asked: number, part: number): number {
  const sorted = outcomes
    .filter(({ status }) => status === asked)
    .map(({ latencyMs }) => latencyMs)
    .sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function round(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10) / 10;
}

import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { startTreeDatabase, type TreeService } from './data/startTree.ts';
import { throughput } from './overload/throughput.ts';
import { toBytes } from './overload/toBytes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { childrenOf, postmasterOf } from './peers/measure/processTimes.ts';

/**
 * `npm run bench workers`: requests per second of one worker and of two on one PostgreSQL. Both have the same cores: one of this machine,
 * two, and so on to all. They take turns, so that other work of the machine slows both. Both are started more than once, since two
 * processes of the same program differ as long as they live. Exits with 1 when two are slower than one by more than the error of
 * measurement, and prints from which number of cores on two are faster.
 */
const starts = 2;
const rounds = 12;
const seconds = 1;
/** Each process compiles for itself. */
const warmUpSeconds = 8;
const clients = 32;
/** The error of measurement: by how much two runs of the same differ, all turns together. */
const error = 0.05;

const operations = {
  'one field': '{ app { name } }',
  '50 users, their cards':
    '{ app { users(first: 50) { nodes { id fullName email cardAssignments { card { name } } } } } }',
};

const cases = Array.from({ length: availableParallelism() }, (_, index) => index + 1).flatMap((cores) =>
  Object.entries(operations).map(([operation, query]) => ({ cores, operation, query, one: 0, two: 0 })),
);

exitOnSignals();
await using resources = new AsyncDisposableStack();
const database = await startTreeDatabase();
resources.defer(database.stop);
for (let start = 0; start < starts; start++) {
  await using started = new AsyncDisposableStack();
  const startWorkers = async (workers: number) => {
    const service = await database.startService({ WORKERS: String(workers) });
    started.defer(service.stop);
    return service;
  };
  const services = { one: await startWorkers(1), two: await startWorkers(2) };
  await limitPostgres(availableParallelism());
  for (const query of Object.values(operations)) {
    for (const service of Object.values(services)) await measure(service, query, warmUpSeconds);
  }
  for (const measured of cases) {
    await limitPostgres(measured.cores);
    for (let round = 0; round < rounds; round++) {
      for (const workers of round % 2 === 0 ? (['one', 'two'] as const) : (['two', 'one'] as const)) {
        const perSecond = await measure(services[workers], measured.query, seconds);
        measured[workers] += perSecond / (starts * rounds);
      }
    }
  }
}
const rows = cases.map(({ cores, operation, one, two }) => ({
  'cores of PostgreSQL': cores,
  operation,
  'one worker': Math.round(one),
  two: Math.round(two),
  factor: Math.round((two / one) * 100) / 100,
}));
console.table(rows);
const paying = rows.find(({ factor }) => factor > 1 + error);
console.log(
  paying
    ? `Two workers pay from ${paying['cores of PostgreSQL']} cores for PostgreSQL on (${paying.operation}).`
    : `Two workers pay nowhere on ${availableParallelism()} cores.`,
);
process.exitCode = rows.every(({ factor }) => factor >= 1 - error) ? 0 : 1;

function measure({ url, token }: TreeService, query: string, seconds: number): Promise<number> {
  return throughput(Number(new URL(url).port), toBytes(token, query), clients, seconds);
}

/** The server with all of its sessions, and those that it will begin. */
async function limitPostgres(cores: number): Promise<void> {
  const postmaster = await postmasterOf(database.cluster);
  for (const pid of [postmaster, ...(await childrenOf(postmaster))]) {
    // A session may have ended meanwhile.
    await promisify(execFile)('taskset', ['-a', '-c', '-p', `0-${cores - 1}`, String(pid)]).catch(() => undefined);
  }
}

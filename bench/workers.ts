import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { startTree, type Tree } from './data/startTree.ts';
import { throughput } from './overload/throughput.ts';
import { toBytes } from './overload/toBytes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { childrenOf, postmasterOf } from './peers/measure/processTimes.ts';

/**
 * `npm run bench workers`: requests per second of one worker and of two, while PostgreSQL has the same cores in both runs: one of
 * this machine, two, and so on to all. They take turns, so that whatever else the machine does counts for both. Exits with 1 when
 * two are slower than one by more than measuring errs; says from which share on they pay.
 */
const rounds = 5;
const seconds = 3;
const clients = 32;
/** Of medians, between two runs of the same. */
const error = 0.05;

const operations = {
  'one field': '{ app { name } }',
  '50 users, their cards':
    '{ app { users(first: 50) { nodes { id fullName email cardAssignments { card { name } } } } } }',
};

exitOnSignals();
await using resources = new AsyncDisposableStack();
const trees: Tree[] = [];
for (const workers of ['1', '2']) {
  const tree = await startTree({ WORKERS: workers, LOG_LEVEL: 'error' });
  resources.defer(tree.stop);
  trees.push(tree);
}

const rows = [];
for (let cores = 1; cores <= availableParallelism(); cores++) {
  for (const tree of trees) await limitPostgres(tree, cores);
  for (const [operation, query] of Object.entries(operations)) {
    const measured: number[][] = trees.map(() => []);
    // The first one is for the compiler.
    for (let round = 0; round <= rounds; round++) {
      for (const [index, tree] of trees.entries()) {
        const perSecond = await throughput(portOf(tree), toBytes(tree.token, query), clients, seconds);
        if (round > 0) measured[index]?.push(perSecond);
      }
    }
    const [one = Number.NaN, two = Number.NaN] = measured.map(median);
    const factor = Math.round((two / one) * 100) / 100;
    rows.push({ 'cores of PostgreSQL': cores, operation, 'one worker': Math.round(one), two: Math.round(two), factor });
  }
}
console.table(rows);
const paying = rows.find(({ factor }) => factor > 1 + error);
console.log(
  paying
    ? `Two workers pay from ${paying['cores of PostgreSQL']} cores for PostgreSQL on (${paying.operation}).`
    : `Two workers pay nowhere on ${availableParallelism()} cores.`,
);
process.exitCode = rows.every(({ factor }) => factor >= 1 - error) ? 0 : 1;

/** The server with all of its sessions, and those that it will begin. */
async function limitPostgres({ cluster }: Tree, cores: number): Promise<void> {
  const postmaster = await postmasterOf(cluster);
  for (const pid of [postmaster, ...(await childrenOf(postmaster))]) {
    // A session may have ended meanwhile.
    await promisify(execFile)('taskset', ['-a', '-c', '-p', `0-${cores - 1}`, String(pid)]).catch(() => undefined);
  }
}

function portOf({ url }: Tree): number {
  return Number(new URL(url).port);
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

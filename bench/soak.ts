import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startTree, type Tree } from './data/startTree.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { childrenOf, postmasterOf } from './peers/measure/processTimes.ts';
import { startClients } from './soak/startClients.ts';
import { median } from './support/measured.ts';

/**
 * `npm run bench soak`: half an hour of all that a service does, good and bad, at a pace that leaves it time. Prints what it and its
 * PostgreSQL hold in each tenth. Exits with 1 when an answer was wrong, or one of the service's figures is more than 5 % higher in the last
 * tenths than in the middle. `npm run bench soak 5` takes five minutes.
 */
const [, , minutes = '30'] = process.argv;
const tenths = 10;
const samplesOfTenth = 20;
const pauseMs = 100;
const maxGrowth = 1.05;

exitOnSignals();
const tree = await startTree({ LOG_LEVEL: 'error', THROTTLE_REQUESTS_PER_MINUTE: '1000000' });
try {
  const clients = startClients(tree, pauseMs);
  const rows: Held[] = [];
  for (let tenth = 1; tenth <= tenths; tenth++) {
    const samples: Held[] = [];
    while (samples.length < samplesOfTenth) {
      await delay((Number(minutes) * 60_000) / tenths / samplesOfTenth);
      samples.push(await look(tree));
    }
    rows.push(medians(samples));
    console.log(`${tenth}/${tenths}`, rows.at(-1));
  }
  await clients.stop();

  console.table(rows);
  console.table([...clients.done].map(([what, times]) => ({ what, times })));
  const middle = medians(rows.slice(4, 6));
  const end = medians(rows.slice(8, 10));
  const grown = (['serviceMegabytes', 'serviceFiles', 'sessions'] as const).filter(
    (what) => end[what] > middle[what] * maxGrowth,
  );
  console.log(`grown: ${grown.join(', ') || 'nothing'}; answered otherwise: ${clients.failures.length}`);
  for (const failure of new Set(clients.failures)) console.log(failure);
  process.exitCode = grown.length + clients.failures.length === 0 ? 0 : 1;
} finally {
  await tree.stop();
}

type Held = {
  /** Resident. */
  serviceMegabytes: number;
  /** Open files and sockets. */
  serviceFiles: number;
  /** PostgreSQL's processes. */
  sessions: number;
  /** The private memory of these processes. */
  sessionsMegabytes: number;
};

async function look({ pid, cluster, residentBytes }: Tree): Promise<Held> {
  const children = await childrenOf(await postmasterOf(cluster));
  const own = await Promise.all(children.map((child) => ownKibibytes(child).catch(() => 0)));
  return {
    serviceMegabytes: round((await residentBytes()) / 1e6),
    serviceFiles: (await readdir(`/proc/${pid}/fd`)).length,
    sessions: children.length,
    sessionsMegabytes: round((own.reduce((sum, one) => sum + one, 0) * 1024) / 1e6),
  };
}

async function ownKibibytes(pid: number): Promise<number> {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

/** For each figure by itself. */
function medians(all: readonly Held[]): Held {
  const medianOf = (what: keyof Held) => median(all.map((one) => one[what]));
  return {
    serviceMegabytes: medianOf('serviceMegabytes'),
    serviceFiles: medianOf('serviceFiles'),
    sessions: medianOf('sessions'),
    sessionsMegabytes: medianOf('sessionsMegabytes'),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

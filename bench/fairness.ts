import { setTimeout as delay } from 'node:timers/promises';
import { startTree, type Tree } from './data/startTree.ts';
import { worstDocuments } from './data/worstDocuments.ts';

/**
 * `npm run bench -- fairness`: the longest `{ __typename }` of another client while each of the worst documents is
 * served five times, new to the service every time, among 20,000 units. Beside it the most that the main thread computed
 * for one of them, which a busy machine does not change. Exits with 1 when somebody waited more than 250 ms.
 * `node bench/fairness.ts levels` serves only those with `levels` in their names.
 */
const limitMs = 250;
const rounds = 5;

const [, , name = ''] = process.argv;
const tree = await startTree();
try {
  // Past the compilation of what every request runs through.
  for (let i = 0; i < 1000; i++) await tree.send('{ __typename }');

  const rows = [{ document: 'none', ...(await probeDuring(() => delay(2000))) }];
  for (const [document, write] of Object.entries(worstDocuments)) {
    if (document.includes(name)) rows.push({ document, ...(await serve(write)) });
  }
  console.table(rows);
  process.exitCode = rows.every((row) => row['longest ms'] <= limitMs) ? 0 : 1;
} finally {
  await tree.stop();
}

async function serve(write: (number: number) => string) {
  const served: Served[] = [];
  const probed = await probeDuring(async () => {
    for (let round = 0; round < rounds; round++) served.push(await sendOnce(tree, write(round)));
  });
  return {
    ...probed,
    'computed ms': Math.round(Math.max(...served.map(({ computed }) => computed))),
    'served ms': Math.round(Math.max(...served.map(({ duration }) => duration))),
    answer: [...new Set(served.map(({ answer }) => answer))].join(', '),
  };
}

type Served = { answer: string; duration: number; computed: number };

async function sendOnce({ send, mainThreadMs }: Tree, query: string): Promise<Served> {
  const computedBefore = await mainThreadMs();
  const start = performance.now();
  const { status, text } = await send(query);
  const duration = performance.now() - start;
  const [, code = ''] = /"code":"(\w+)"/.exec(text) ?? [];
  return { answer: `${status} ${code}`, duration, computed: (await mainThreadMs()) - computedBefore };
}

/** Asks again and again while the work goes on. */
async function probeDuring(work: () => Promise<unknown>) {
  let longest = 0;
  let working = true;
  const probe = async () => {
    while (working) {
      const start = performance.now();
      await tree.send('{ __typename }');
      longest = Math.max(longest, performance.now() - start);
      await delay(5);
    }
  };
  const probing = probe();
  await work();
  working = false;
  await probing;
  return { 'longest ms': Math.round(longest) };
}

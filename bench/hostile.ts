import { hostileDocuments } from '../test/graphql/hostileDocuments.ts';
import { startTree, type Tree } from './data/startTree.ts';
import { median } from './support/measured.ts';

/**
 * `npm run bench -- hostile`: how each hostile document is answered, its code and the median time of 21, among 20,000 units and
 * 10,000 users. Exits with 1 when one takes 100 ms or more, or is answered otherwise than refused.
 * `node bench/hostile.ts lists` sends only those with `lists` in their names.
 */
const limitMs = 100;
const rounds = 21;

const [, , name = ''] = process.argv;
const tree = await startTree();
try {
  // Past the compilation of what every request runs through.
  for (let i = 0; i < 1000; i++) await tree.send('{ __typename }');

  const rows = [];
  for (const [document, { attack, refusal }] of Object.entries(hostileDocuments))
    if (document.includes(name)) rows.push({ document, ...(await serve(tree, attack, refusal.code)) });
  console.table(rows);
  process.exitCode = rows.every((row) => row['median ms'] < limitMs && row.refused) ? 0 : 1;
} finally {
  await tree.stop();
}

async function serve({ send }: Tree, attack: string, expected: string) {
  const durations = [];
  const answers = new Set<string>();
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const { status, text } = await send(attack);
    durations.push(performance.now() - start);
    answers.add(`${status} ${/"code":"(\w+)"/.exec(text)?.[1]}`);
  }
  return {
    answer: [...answers].join(', '),
    refused: [...answers].join() === `400 ${expected}`,
    'median ms': rounded(median(durations)),
    'longest ms': rounded(Math.max(...durations)),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

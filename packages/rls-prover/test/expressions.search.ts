import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { isWhole, seed, sizeOf } from '../../../test/support/search.ts';
import { type Expressions, expressionsIn } from './expressions/draw.ts';
import { startJudging } from './expressions/judge.ts';

/** `EXPRESSIONS=100000` takes about an hour. */
const count = Number(process.env.EXPRESSIONS || sizeOf({ small: 200, whole: 10_000 }));

const source = fileURLToPath(new URL('../src', import.meta.url));

it(`PostgreSQL shows no value that the translation excludes (SEED=${seed})`, async () => {
  const counts = { drawn: 0, valid: 0, understood: 0, values: 0, open: 0, undecided: 0 };
  const judgedBy =
    ({ judge }: Awaited<ReturnType<typeof startJudging>>) =>
    async (expressions: Expressions) => {
      const outcome = await judge(expressions);
      counts.drawn += expressions.expressions.length;
      for (const name of ['valid', 'understood', 'values', 'open', 'undecided'] as const) counts[name] += outcome[name];
      expect(outcome.differences).toEqual([]);
    };
  for (let round = 0; counts.drawn < count; round++) {
    // Anew for each round, since a solver that had answered more than a thousand questions failed.
    const judging = await startJudging(source);
    const drawn = fc.asyncProperty(expressionsIn(isWhole ? 400 : 100), judgedBy(judging));
    try {
      await fc.assert(drawn, { seed: seed + round, numRuns: isWhole ? 10 : 1, endOnFailure: true });
    } finally {
      await judging.stop();
    }
    if (isWhole) process.stdout.write(`${JSON.stringify(counts)}\n`);
  }

  expect(counts.understood).toBeGreaterThan(counts.valid / 2);
  expect(counts.open).toBeLessThan(counts.values);
}, 14_400_000);

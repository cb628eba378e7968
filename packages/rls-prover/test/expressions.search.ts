import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { isWhole, seed, sizeOf } from '../../../test/support/search.ts';
import { expressionsIn } from './expressions/draw.ts';
import { startJudging } from './expressions/judge.ts';

/** `EXPRESSIONS=100000` takes about half an hour. */
const count = Number(process.env.EXPRESSIONS || sizeOf({ small: 200, whole: 10_000 }));

let judging: Awaited<ReturnType<typeof startJudging>>;
beforeAll(async () => {
  judging = await startJudging(fileURLToPath(new URL('../src', import.meta.url)));
});
afterAll(() => judging.stop());

it(`PostgreSQL shows no value that the translation excludes (SEED=${seed})`, async () => {
  const counts = { drawn: 0, valid: 0, understood: 0, values: 0, open: 0, undecided: 0 };
  const drawn = fc.asyncProperty(expressionsIn(isWhole ? 400 : 100), async (expressions) => {
    const outcome = await judging.judge(expressions);
    counts.drawn += expressions.expressions.length;
    for (const name of ['valid', 'understood', 'values', 'open', 'undecided'] as const) counts[name] += outcome[name];
    expect(outcome.differences).toEqual([]);
  });
  for (let round = 0; counts.drawn < count; round++) {
    await fc.assert(drawn, { seed: seed + round, numRuns: isWhole ? 10 : 1, endOnFailure: true });
    if (isWhole) process.stdout.write(`${JSON.stringify(counts)}\n`);
  }

  expect(counts.understood).toBeGreaterThan(counts.valid / 2);
  expect(counts.open).toBeLessThan(counts.values);
}, 14_400_000);

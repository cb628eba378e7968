import fc from 'fast-check';
import { isWhole, seed, sizeOf } from '../../../test/support/search.ts';
import { attack } from './attack.ts';
import { schemas } from './schemas.ts';
import { startProving } from './support.ts';

/** `SCHEMAS=2000` takes about half an hour. */
const count = Number(process.env.SCHEMAS || sizeOf({ small: 4, whole: 200 }));

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

it(`no proof of a schema that is drawn has a counterexample (SEED=${seed})`, async () => {
  const counts = { valid: 0, withHole: 0, closed: 0, closedWithoutHole: 0 };
  const inTheWay = new Map<string, number>();
  const drawn = fc.asyncProperty(schemas, async (schema) => {
    const { isValid, open, violations, broken } = await attack(proving, schema);
    if (!isValid) return;
    const isClosed = open.length === 0;
    counts.valid++;
    if (violations.length > 0) counts.withHole++;
    if (isClosed) counts.closed++;
    if (isClosed && violations.length === 0) counts.closedWithoutHole++;
    if (violations.length === 0)
      for (const what of new Set(open.map(reasonOf))) inTheWay.set(what, (inTheWay.get(what) ?? 0) + 1);
    if (isWhole && counts.valid % 50 === 0) process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(broken).toEqual([]);
  });
  await fc.assert(drawn, { seed, numRuns: count });

  const most = [...inTheWay].toSorted(([, a], [, b]) => b - a).slice(0, 12);
  console.log(counts, most.map(([what, times]) => `${times} ${what}`).join('\n'));
  // It finds holes, and proves what has none.
  expect(counts.withHole).toBeGreaterThan(0);
  if (isWhole) expect(counts.closed).toBeGreaterThan(counts.valid / 10);
}, 14_400_000);

/** The construct, without its place. */
const reasonOf = ({ invariant, why }: { invariant: string; why: string }) =>
  `${/^(rights|claims|definer)$/.test(invariant) ? `${invariant}: ` : ''}${why.replace(/ in .*| of \w+\.\w+.*|; .*/s, '')}`;

import fc from 'fast-check';
import { isWhole, seed, sizeOf } from '../../../test/support/search.ts';
import { attack, change } from './attack.ts';
import { changes, schemas } from './schemas.ts';
import { startProving } from './support.ts';

/** `SCHEMAS=5000` takes about an hour. `SCHEMA_CHANGES` draws other numbers of changes. */
const count = Number(process.env.SCHEMAS || sizeOf({ small: 4, whole: 200 }));
const changeCount = Number(process.env.SCHEMA_CHANGES || sizeOf({ small: 1, whole: 40 }));

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
    expect(broken).toEqual([]);
  });
  await fc.assert(drawn, { seed, numRuns: count });

  const most = [...inTheWay].toSorted(([, a], [, b]) => b - a).slice(0, 12);
  console.log(counts, most.map(([what, times]) => `${times} ${what}`).join('\n'));
  // It finds holes, and proves what has none.
  expect(counts.withHole).toBeGreaterThan(0);
  if (isWhole) expect(counts.closed).toBeGreaterThan(0);
}, 14_400_000);

it(`no acceptance hides a violation that a change of a schema brings (SEED=${seed})`, async () => {
  const counts = { valid: 0, accepted: 0 };
  const drawn = fc.asyncProperty(changes, async (drawn) => {
    const { isValid, accepted, hidden } = await change(proving, drawn);
    counts.valid += Number(isValid);
    counts.accepted += accepted;
    expect(hidden).toEqual([]);
  });
  await fc.assert(drawn, { seed, numRuns: changeCount });

  console.log(counts);
  expect(counts.valid).toBeGreaterThan(0);
  // A few changes may touch every judgement.
  if (changeCount < 40) return;
  expect(counts.accepted).toBeGreaterThan(0);
}, 14_400_000);

/** The construct, without its place. */
const reasonOf = ({ invariant, why }: { invariant: string; why: string }) =>
  `${/^(rights|claims|definer)$/.test(invariant) ? `${invariant}: ` : ''}${why.replace(/ in .*| of \w+\.\w+.*|; .*/s, '')}`;

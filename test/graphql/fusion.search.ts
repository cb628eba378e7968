import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seed, sizeOf } from '../support/search.ts';
import { type Comparison, startComparison } from './fusion/startComparison.ts';

const count = sizeOf({ small: 120, whole: 1500 });

let database: TestDatabase;
let comparison: Comparison;
beforeAll(async () => {
  database = await createTestDatabase();
  comparison = await startComparison(database);
});
afterAll(async () => {
  await comparison.stop();
  await database.drop();
});

test(`${count} queries that are drawn from the schema get the same answer whether their lists are fused or not`, async () => {
  process.stdout.write(`${count} queries are drawn with SEED=${seed}\n`);

  await fc.assert(
    fc.asyncProperty(comparison.drawn, async (asked) => {
      const { fused, plain } = await comparison.answers(asked);
      expect(fused).toBe(plain);
    }),
    { numRuns: count, seed },
  );

  const { fusedLists, leftLists, failedRuns } = comparison.seen;
  expect(fusedLists).toBeGreaterThan(count / 10);
  expect(failedRuns).toBeGreaterThan(0);
  expect(leftLists).toBeLessThan(fusedLists / 10);
}, 300_000);

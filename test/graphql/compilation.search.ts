import fc from 'fast-check';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { seed, sizeOf } from '../support/search.ts';
import { type Comparison, startComparison } from './compilation/startComparison.ts';

/** `DOCUMENTS=20000 npm run -s test:system -- graphql/compilation` draws more. */
const count = Number(process.env.DOCUMENTS || sizeOf({ small: 40, whole: 1500 }));

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

test(
  `${count} queries that are drawn from the schema get the same answer whether they are compiled or not`,
  async () => {
    process.stdout.write(`${count} queries are drawn with SEED=${seed}\n`);

    await fc.assert(
      fc.asyncProperty(comparison.drawn, async (asked) => {
        const { compiled, plain } = await comparison.answers(asked);
        expect(compiled).toBe(plain);
      }),
      { numRuns: count, seed },
    );

    const { compiled, notCompiled, failedRuns, reasons } = comparison.seen;
    // A text that cannot be built would not be built for any request.
    expect([...reasons.keys()].filter((reason) => reason.includes('SQL with'))).toEqual([]);
    // Compilation succeeds for 95 % of 20,000 operations. With fewer, the share varies by chance.
    expect(compiled).toBeGreaterThan(14 * notCompiled);
    expect(failedRuns).toBeGreaterThan(0);
  },
  Math.max(300_000, count * 200),
);

import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { isWhole } from '../support/search.ts';
import { randomOf } from './random.ts';
import { drawCase } from './tables/draw.ts';
import { runCase } from './tables/run.ts';
import { reportOf, shrinkCase } from './tables/shrinkCase.ts';
import { createWorld, type World } from './tables/world.ts';

// Tables that a team might add, drawn by the rules of docs/changing-the-schema.md and judged by their rows: `oracle/tables`.
// Each run draws anew, also in `npm test`. `SEED=… TABLES=500 npm run -s test:system -- oracle/tables` repeats a run.

const seed = Number(process.env.SEED || Math.floor(Math.random() * 2 ** 31));
const count = Number(process.env.TABLES || (isWhole ? 500 : 1));
/** A service builds its schema with so many at once, since that takes longer than to ask about one of them. */
const tablesOfACase = 10;

let database: TestDatabase;
let world: World;
beforeAll(async () => {
  database = await createTestDatabase();
  world = await createWorld(database, isWhole ? [true, false] : [true]);
});
afterAll(async () => {
  await world.stop();
  await database.drop();
});

test(`${count} drawn tables are answered as their rows and the guide say`, async () => {
  process.stdout.write(`${count} tables are drawn with SEED=${seed}\n`);
  let queries = 0;

  for (let done = 0; done < count; done += tablesOfACase) {
    const ofCase = seed + done;
    const drawn = drawCase(randomOf(ofCase), Math.min(tablesOfACase, count - done));
    const found = await runCase(database.owner, world, drawn, ofCase);
    queries += found.queries;
    if (isWhole) process.stdout.write(`${done + drawn.tables.length} tables, ${queries} queries\n`);
    const [failure] = found.failures;
    if (failure) {
      const smallest = await shrinkCase({ owner: database.owner, world, seed: ofCase }, drawn, failure);
      throw new Error(`SEED=${ofCase}\n${reportOf(smallest.drawn, smallest.failure, world)}`);
    }
  }

  // What was drawn has been asked: else the above says nothing.
  expect(queries).toBeGreaterThan(20 * count);
}, 14_400_000);

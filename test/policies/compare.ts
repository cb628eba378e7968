import fc from 'fast-check';
import type { TestDatabase } from '../support/database.ts';
import { seed } from '../support/search.ts';
import { openAttempts } from './attempts.ts';
import { changes, changeWorld } from './changes.ts';
import { findDifference } from './findDifference.ts';
import { forgetChanges, insertWorld } from './insertWorld.ts';
import { worlds } from './world.ts';

/**
 * Compares the database with the oracle in so many worlds, each inserted, changed a little by its owner and then tried.
 *
 * @returns the first difference, with the smallest world that still has one when `shrinks`; null when there is none
 */
export async function compare(
  database: TestDatabase,
  numRuns: number,
  { shrinks }: { shrinks: boolean },
): Promise<string | null> {
  const { attempt, close } = await openAttempts(database.authUrl);
  const property = fc.asyncProperty(
    worlds,
    fc.array(changes, { maxLength: 8 }),
    fc.infiniteStream(fc.nat()),
    async (inserted, changing, numbers) => {
      await database.owner.query(insertWorld(inserted));
      let world = inserted;
      for (const change of changing) {
        const changed = changeWorld(world, change);
        if (changed) await database.owner.query(`${changed.statement}; ${forgetChanges}`);
        world = changed?.world ?? world;
      }
      const difference = await findDifference(world, attempt, (below) => (numbers.next().value ?? 0) % below);
      if (difference) throw new Error(difference);
    },
  );
  try {
    const run = await fc.check(property, { seed, numRuns, endOnFailure: !shrinks, interruptAfterTimeLimit: 50_000 });
    return run.failed ? `${run.errorInstance}\n${await fc.asyncDefaultReportMessage(run)}` : null;
  } finally {
    await close();
  }
}

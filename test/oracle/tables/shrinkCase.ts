import type { Pool } from 'pg';
import type { Failure } from './ask.ts';
import type { Case } from './model.ts';
import { kindOf, runCase } from './run.ts';
import { smallerCases } from './shrink.ts';
import { createsOf, insertOf } from './sql.ts';
import type { World } from './world.ts';

/** Makes a case that fails smaller, for as long as it fails in the same way and the time is not over. */
export async function shrinkCase(
  { owner, world, seed }: { owner: Pool; world: World; seed: number },
  drawn: Case,
  failure: Failure,
  maxMs = 120_000,
): Promise<{ drawn: Case; failure: Failure }> {
  const end = Date.now() + maxMs;
  let smallest = { drawn, failure };
  const isSmaller = async (smaller: Case) => {
    const run = runCase(owner, world, smaller, seed, { check: smallest.failure.check, isShrinking: true });
    const [found] = (await run.catch(() => null))?.failures ?? [];
    if (!found || kindOf(found) !== kindOf(failure)) return false;
    smallest = { drawn: smaller, failure: found };
    return true;
  };
  await isSmaller(drawn);
  for (let isOver = false; !isOver; ) {
    isOver = true;
    for (const smaller of smallerCases(smallest.drawn, smallest.failure.check)) {
      if (Date.now() > end) return smallest;
      if (JSON.stringify(smaller) !== JSON.stringify(smallest.drawn) && (await isSmaller(smaller))) {
        isOver = false;
        break;
      }
    }
  }
  return smallest;
}

/** The tables and rows as SQL, and what was asked, to be pasted into a test. */
export function reportOf(drawn: Case, { message, check, operation }: Failure, world: World): string {
  const rows = drawn.tables.flatMap((table) => table.rows.map((row) => insertOf(table, row, drawn, world)));
  const asked = operation
    ? `${JSON.stringify(check?.who)}\n${operation.query}\n${JSON.stringify(operation.variables)}`
    : '';
  return [createsOf(drawn), ...rows, '', message, asked].join('\n');
}

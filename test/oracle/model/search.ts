import { errorOf, explain, type Failed, subjectOf } from './explain.ts';
import type { Services } from './services.ts';
import type { Step } from './steps.ts';
import { createWorlds } from './world.ts';

export type Drawn = { readonly seed: number; readonly steps: readonly Step[] };

/** So many different disagreements are explained; more are seldom of another kind. */
const maxExplained = 5;
const worldsAtOnce = 50;
/** Each in its own organizations. */
const sequencesAtOnce = 4;

/**
 * Sends sequences of mutations to worlds of their own, and compares each answer and all rows with the model.
 *
 * @returns what was met, such as `userCreate fails`
 * @throws with the least sequence of each kind of disagreement
 */
export async function searchSequences(services: Services, drawn: readonly Drawn[]): Promise<ReadonlySet<string>> {
  const met = new Set<string>();
  const explained: string[] = [];
  for (const one of await runSequences(services, drawn, met)) explained.push(await explain(services, one));
  if (explained.length > 0) throw new Error(explained.join('\n\n'));
  expect(services.errorLines()).toEqual([]);
  return met;
}

/** The first sequence of each kind of disagreement. */
async function runSequences(services: Services, drawn: readonly Drawn[], met: Set<string>): Promise<Failed[]> {
  const failed = new Map<string, Failed>();
  for (let first = 0; first < drawn.length && failed.size < maxExplained; first += worldsAtOnce) {
    const waiting = drawn.slice(first, first + worldsAtOnce);
    const worlds = await createWorlds(services.database, waiting.length);
    const work = async () => {
      for (let next = waiting.shift(); next && failed.size < maxExplained; next = waiting.shift()) {
        const world = worlds.pop();
        if (!world) throw new Error('There is a world for each');
        const one = { ...next, error: await errorOf(services, world, next.steps, met) };
        if (!one.error || failed.has(subjectOf(one))) continue;
        process.stdout.write(`SEED=${one.seed} SEQUENCES=1: ${one.error}\n`);
        failed.set(subjectOf(one), one);
      }
    };
    await Promise.all(Array.from({ length: sequencesAtOnce }, work));
  }
  return [...failed.values()];
}

import { inspect } from 'node:util';
import { DisagreementError } from './outcome.ts';
import { runSequence } from './run.ts';
import type { Services } from './services.ts';
import { shrink } from './shrink.ts';
import type { Step } from './steps.ts';
import { createWorlds, type World } from './world.ts';

/** A sequence in which the service and the model disagree. */
export type Failed = { readonly seed: number; readonly steps: readonly Step[]; readonly error: unknown };

/** What the disagreement is about, without the place where it was met. */
export const subjectOf = ({ error }: Failed): string => String(error).replace(/step \d+: |\d+/g, '');

/** Says what failed, with the least sequence that does, as `found.ts` has it. */
export async function explain(services: Services, failed: Failed): Promise<string> {
  let last = failed.error;
  const spare: World[] = [];
  const least = await shrink(failed.steps, async (steps) => {
    if (spare.length === 0) spare.push(...(await createWorlds(services.database, 10)));
    const error = await errorOf(services, spare.pop() as World, steps);
    if (error) last = error;
    return error !== undefined;
  });
  const said = last instanceof DisagreementError ? { expected: last.expected, actual: last.actual } : {};
  const details = inspect(said, { depth: 12, breakLength: 120 });
  return `SEED=${failed.seed} SEQUENCES=1: ${last}\n${details}\n${JSON.stringify(least)}`;
}

/** Why a sequence fails in a world, or undefined when it does not; adds what it met. */
export async function errorOf(
  services: Services,
  world: World,
  steps: readonly Step[],
  met: Set<string> = new Set(),
): Promise<unknown> {
  try {
    await runSequence({ urls: services.urls, owner: services.database.owner, met }, world, steps);
    return undefined;
  } catch (error) {
    return error ?? new Error('It failed without an error');
  }
}

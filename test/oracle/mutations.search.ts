import { randomInt } from 'node:crypto';
import { isWhole } from '../support/search.ts';
import { fieldNames } from './model/arguments.ts';
import { drawSequence } from './model/draw.ts';
import { errorOf, explain, type Failed, subjectOf } from './model/explain.ts';
import { found } from './model/found.ts';
import { type Services, startServices } from './model/services.ts';
import type { Step } from './model/steps.ts';
import { createWorlds } from './model/world.ts';
import { randomOf } from './random.ts';

/** Each run draws anew; `SEED=… SEQUENCES=…` repeats one. */
const seed = Number(process.env.SEED || randomInt(2 ** 31));
const count = Number(process.env.SEQUENCES || (isWhole ? 2000 : 2));

/** So many different disagreements are explained; more are seldom of another kind. */
const maxExplained = 5;
const worldsAtOnce = 50;
/** Each in its own organizations. */
const sequencesAtOnce = 4;

describe(`mutations and a model of them (SEED=${seed})`, () => {
  let services: Services;

  beforeAll(async () => {
    services = await startServices();
  });

  afterAll(() => services.stop());

  it('answer the same and change the same rows', async () => {
    process.stdout.write(`${count} sequences of mutations are drawn with SEED=${seed}\n`);
    const drawn = Array.from({ length: count }, (_, index) => ({
      seed: seed + index,
      steps: drawSequence(randomOf(seed + index)),
    }));

    const met = new Set<string>();
    const failed = await runSequences(services, [...found.map((steps) => ({ seed, steps })), ...drawn], met);

    const explained: string[] = [];
    for (const one of failed) explained.push(await explain(services, one));
    if (explained.length > 0) throw new Error(explained.join('\n\n'));
    expect(services.errorLines()).toEqual([]);
    expect(wanted.filter((outcome) => !met.has(outcome))).toEqual([]);
  }, 14_400_000);
});

/** Two hundred sequences meet every mutation as it is done and as it fails; fewer may not. */
const wanted = count >= 200 ? [...new Set(fieldNames)].flatMap((name) => [`${name} is done`, `${name} fails`]) : [];

type Drawn = { seed: number; steps: readonly Step[] };

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

import { randomInt } from 'node:crypto';
import { isWhole } from '../support/search.ts';
import { drawSequence } from './model/draw.ts';
import { errorOf, explain, type Failed, subjectOf } from './model/explain.ts';
import { Random } from './model/random.ts';
import { type Services, startServices } from './model/services.ts';
import { createWorlds } from './model/world.ts';

/** Each run draws anew; `SEED=… SEQUENCES=…` repeats one. */
const seed = Number(process.env.SEED || randomInt(2 ** 31));
const count = Number(process.env.SEQUENCES || (isWhole ? 2000 : 12));

/** So many different disagreements are explained; more are seldom of another kind. */
const maxExplained = 5;
const worldsAtOnce = 50;

describe(`mutations and a model of them (SEED=${seed})`, () => {
  let services: Services;

  beforeAll(async () => {
    services = await startServices();
  });

  afterAll(() => services.stop());

  it('answer the same and change the same rows', async () => {
    process.stdout.write(`${count} sequences of mutations are drawn with SEED=${seed}\n`);

    const failed = await runSequences(services);

    const explained: string[] = [];
    for (const one of failed) explained.push(await explain(services, one));
    if (explained.length > 0) throw new Error(explained.join('\n\n'));
    expect(services.errorLines()).toEqual([]);
  }, 3_600_000);
});

/** The first sequence of each kind of disagreement. */
async function runSequences(services: Services): Promise<Failed[]> {
  const failed = new Map<string, Failed>();
  for (let first = 0; first < count; first += worldsAtOnce) {
    const worlds = await createWorlds(services.database, services.environment, Math.min(worldsAtOnce, count - first));
    for (const [index, world] of worlds.entries()) {
      const drawn = seed + first + index;
      const steps = drawSequence(new Random(drawn));
      const error = await errorOf(services, world, steps);
      const one = { seed: drawn, steps, error };
      if (error && !failed.has(subjectOf(one))) failed.set(subjectOf(one), one);
      if (failed.size >= maxExplained) return [...failed.values()];
    }
  }
  return [...failed.values()];
}

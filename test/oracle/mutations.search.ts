import { randomInt } from 'node:crypto';
import { isWhole } from '../support/search.ts';
import { fieldNames } from './model/arguments.ts';
import { drawSequence } from './model/draw.ts';
import { found } from './model/found.ts';
import { searchSequences } from './model/search.ts';
import { type Services, startServices } from './model/services.ts';
import { drawSourceSequence, outcomesOfSources } from './model/sources.ts';
import { randomOf } from './random.ts';

/** Each run draws anew; `SEED=… SEQUENCES=…` repeats one. */
const seed = Number(process.env.SEED || randomInt(2 ** 31));
const count = Number(process.env.SEQUENCES || (isWhole ? 2000 : 1));
/** Of two systems and a person that all give access; `SEQUENCES=0 OF_SOURCES=…` draws these alone. */
const ofSources = Number(process.env.OF_SOURCES || (isWhole ? 500 : 1));

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

    // All in one, where few are drawn: after each sequence the whole graph is compared.
    const known = isWhole ? found : [found.flat()];
    const met = await searchSequences(services, [...known.map((steps) => ({ seed, steps })), ...drawn]);

    expect(wanted.filter((outcome) => !met.has(outcome))).toEqual([]);
  }, 14_400_000);

  it('of two systems and of a person by hand leave the grants of the others', async () => {
    process.stdout.write(`${ofSources} sequences of three who give access are drawn with SEED=${seed}\n`);
    const drawn = Array.from({ length: ofSources }, (_, index) => ({
      seed: seed + index,
      steps: drawSourceSequence(randomOf('sources', seed + index)),
    }));

    const met = await searchSequences(services, drawn);

    if (ofSources >= 50) expect(outcomesOfSources.filter((outcome) => !met.has(outcome))).toEqual([]);
  }, 3_600_000);
});

/** Two hundred sequences meet every mutation as it is done and as it fails; fewer may not. */
const wanted = count >= 200 ? [...new Set(fieldNames)].flatMap((name) => [`${name} is done`, `${name} fails`]) : [];

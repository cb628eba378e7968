// The scheduler in drawn scenarios, against a model that shares no code with it, and against the formula of the README.
import { sizeOf } from '../../../test/support/search.ts';
import { createFairQueue } from '../src/index.ts';
import { simulate } from './simulation/simulate.ts';

const seeds = sizeOf({ small: 300, whole: 1000 });
const eventsOfSeed = 1000;

test(`${seeds} seeds of a thousand events: each decision, bound and wait is right, and nothing is lost`, () => {
  let events = 0;
  let waits = 0;
  let longestShare = 0;
  for (let seed = 1; seed <= seeds; seed++) {
    const report = simulateNamed(seed);
    events += report.events;
    waits += report.waits;
    longestShare = Math.max(longestShare, report.longestShare);
  }

  expect(events).toBeGreaterThanOrEqual(seeds * eventsOfSeed);
  // The formula is put to the test: so many pieces waited for a bound, and one for nearly as long as it allows.
  expect(waits).toBeGreaterThan(50 * seeds);
  expect(longestShare).toBeGreaterThan(0.9);
});

function simulateNamed(seed: number) {
  try {
    return simulate(createFairQueue, seed, eventsOfSeed);
  } catch (cause) {
    throw new Error(`Seed ${seed}: ${cause}`, { cause });
  }
}

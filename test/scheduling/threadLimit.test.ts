import { createThreadLimit, createTickMeter } from '../../src/scheduling/admission.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

let clock: TestClock;
beforeEach(() => {
  clock = createTestClock();
});

describe('the tick meter', () => {
  let wasShortTick: () => boolean;
  beforeEach(() => {
    wasShortTick = createTickMeter(clock);
  });

  it('distinguishes a long event-loop tick from a short one', async () => {
    clock.compute(3);
    expect(wasShortTick()).toBe(false);

    clock.compute(2);
    // Time in which the thread rests makes no turn long.
    await clock.advance(20);
    expect(wasShortTick()).toBe(true);
  });

  it('counts one as short now and then when all are long', () => {
    const shortAfterMs: number[] = [];
    for (let ms = 5; ms <= 200; ms += 5) {
      clock.compute(5);
      if (wasShortTick()) shortAfterMs.push(ms);
    }

    // One in 50 ms, however long the turns are.
    expect(shortAfterMs).toEqual([50, 100, 150, 200]);
    clock.compute(49);
    expect(wasShortTick()).toBe(false);
    clock.compute(50);
    expect(wasShortTick()).toBe(true);
  });
});

test('the thread limit grows while the thread is idle, and shrinks to one while it never is', async () => {
  const limit = createThreadLimit(15, clock);
  expect(limit.get()).toBe(1);
  for (let ticks = 2; ticks < 40; ticks++) {
    await clock.advance(5);
    limit.adjust(limit.get());
    expect(limit.get()).toBe(Math.min(15, ticks));
  }

  // Neither busy nor at rest.
  for (const activeMs of [6, 8.5]) {
    clock.compute(activeMs);
    await clock.advance(10 - activeMs);
    limit.adjust(limit.get());
    expect(limit.get()).toBe(15);
  }

  // No more than are held are of use.
  clock.compute(5);
  limit.adjust(9);
  expect(limit.get()).toBe(8);
  for (let ticks = 0; ticks < 15; ticks++) {
    clock.compute(5);
    limit.adjust(limit.get());
  }
  expect(limit.get()).toBe(1);
});

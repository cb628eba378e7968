import { createOverload, mostBeforeCrowd, type Overload } from '../../src/http/overload.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

describe('an overload', () => {
  let clock: TestClock;
  let overload: Overload;
  beforeEach(() => {
    clock = createTestClock();
    overload = createOverload(15, mostWaiting, clock);
    overload.wasShortTurn();
  });

  it('is a crowd at first, and serves the newest of it first, but not for long', async () => {
    expect(overload).toMatchObject({ phase: 'young', isCertain: false });
    expect(overload.most).toBeLessThan(15);

    await clock.advance(99);
    expect(overload.phase).toBe('young');

    await clock.advance(1);
    expect(overload.see(mostWaiting)).toBe(false);
    expect(overload).toMatchObject({ phase: 'patient', isCertain: false, most: 15 });
  });

  it('lasts as long as there is a crowd, and a second', async () => {
    await clock.advance(900);
    overload.see(mostBeforeCrowd + 1);
    await clock.advance(900);
    overload.see(mostBeforeCrowd);
    expect(overload.isOver()).toBe(false);
    await clock.advance(100);
    expect(overload.isOver()).toBe(false);

    await clock.advance(1);
    expect(overload.isOver()).toBe(true);
  });

  it('is certain once too many wait', () => {
    expect([overload.see(mostWaiting), overload.see(mostWaiting + 1), overload.see(mostWaiting + 2)]).toEqual([
      false,
      true,
      false,
    ]);
    expect(overload).toMatchObject({ phase: 'strict', isCertain: true });
  });

  it('tries every five seconds whether a crowd can be served', async () => {
    overload.see(mostWaiting + 1);
    await clock.advance(4999);
    expect(overload.phase).toBe('strict');
    await clock.advance(1);
    overload.count();
    overload.see(mostBeforeCrowd);
    expect(overload).toMatchObject({ phase: 'easing', isCertain: true, refused: 1 });

    expect(overload.see(mostBeforeCrowd + 1)).toBe(false);
    expect(overload.phase).toBe('strict');
    await clock.advance(5000);
    expect(overload.phase).toBe('easing');
  });

  it('tells a long turn of the event loop from a short one', async () => {
    clock.compute(3);
    expect(overload.wasShortTurn()).toBe(false);

    clock.compute(2);
    // Time in which the thread rests makes no turn long.
    await clock.advance(20);
    expect(overload.wasShortTurn()).toBe(true);
  });

  it('lets one pass for short now and then when all are long', () => {
    const shortAfterMs: number[] = [];
    for (let ms = 5; ms <= 200; ms += 5) {
      clock.compute(5);
      if (overload.wasShortTurn()) shortAfterMs.push(ms);
    }

    // One in 50 ms, however long the turns are.
    expect(shortAfterMs).toEqual([50, 100, 150, 200]);
    clock.compute(49);
    expect(overload.wasShortTurn()).toBe(false);
    clock.compute(50);
    expect(overload.wasShortTurn()).toBe(true);
  });

  it('lets in more while the thread rests, and one at a time while it never does', async () => {
    overload.see(mostWaiting + 1);
    expect(overload.most).toBe(1);
    for (const expected of [2, 3, 4, 5]) {
      await clock.advance(5);
      overload.adjust(overload.most);
      expect(overload.most).toBe(expected);
    }
    for (let pauses = 0; pauses < 30; pauses++) {
      await clock.advance(5);
      overload.adjust(overload.most);
    }
    expect(overload.most).toBe(15);

    // Neither busy nor at rest.
    for (const activeMs of [6, 8.5]) {
      clock.compute(activeMs);
      await clock.advance(10 - activeMs);
      overload.adjust(overload.most);
      expect(overload.most).toBe(15);
    }

    clock.compute(5);
    overload.adjust(overload.most);
    expect(overload.most).toBe(14);
    for (let turns = 0; turns < 15; turns++) {
      clock.compute(5);
      overload.adjust(overload.most);
    }
    expect(overload.most).toBe(1);
  });
});

const mostWaiting = 200;

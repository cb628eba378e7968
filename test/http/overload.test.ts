import { setTimeout as delay } from 'node:timers/promises';
import { createOverload, mostBeforeCrowd, type Overload } from '../../src/http/overload.ts';
import { compute } from '../support/compute.ts';

describe('an overload', () => {
  let overload: Overload;
  beforeEach(async () => {
    overload = createOverload(15, mostWaiting);
    await turn();
    overload.wasShortTurn();
  });

  it('is a crowd at first, and serves the newest of it first, but not for long', async () => {
    expect(overload).toMatchObject({ phase: 'young', isCertain: false });
    expect(overload.most).toBeLessThan(15);

    await delay(110);
    expect(overload.see(mostWaiting)).toBe(false);
    expect(overload).toMatchObject({ phase: 'patient', isCertain: false, most: 15 });
  });

  it('lasts as long as there is a crowd, and a second', async () => {
    await delay(900);
    overload.see(mostBeforeCrowd + 1);
    const seenAt = performance.now();
    await delay(900);
    overload.see(mostBeforeCrowd);
    const isOver = overload.isOver();
    // Only where the machine stops for so long.
    expect(isOver).toBe(performance.now() - seenAt > 1000);

    await delay(200);
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
    await delay(5010);
    overload.count();
    overload.see(mostBeforeCrowd);
    expect(overload).toMatchObject({ phase: 'easing', isCertain: true, refused: 1 });

    expect(overload.see(mostBeforeCrowd + 1)).toBe(false);
    expect(overload.phase).toBe('strict');
  });

  it('tells a long turn of the event loop from a short one', async () => {
    await turn();
    compute(5);
    expect(overload.wasShortTurn()).toBe(false);

    // One of them, wherever the machine does something else in between.
    const idle: boolean[] = [];
    for (let turns = 0; turns < 20; turns++) {
      await turn();
      idle.push(overload.wasShortTurn());
    }
    expect(idle).toContain(true);
  });

  it('lets one pass for short now and then when all are long', async () => {
    const found: boolean[] = [];
    const since = performance.now();
    for (let turns = 0; turns < 40; turns++) {
      await turn();
      compute(5);
      found.push(overload.wasShortTurn());
    }

    const short = found.filter((wasShort) => wasShort).length;
    expect(short).toBeGreaterThan(0);
    // One in 50 ms, however long the turns are.
    expect(short).toBeLessThanOrEqual((performance.now() - since) / 50 + 1);
    expect(found).toContain(false);
  });

  it('lets in more while the thread rests, and one at a time while it never does', async () => {
    overload.see(mostWaiting + 1);
    expect(overload.most).toBe(1);
    for (let pauses = 0; pauses < 30; pauses++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      overload.adjust(overload.most);
    }
    expect(overload.most).toBeGreaterThan(4);
    expect(overload.most).toBeLessThanOrEqual(15);

    for (let turns = 0; turns < 15; turns++) {
      await turn();
      compute(5);
      overload.adjust(overload.most);
    }
    expect(overload.most).toBe(1);
  });
});

const mostWaiting = 200;

/** The next turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

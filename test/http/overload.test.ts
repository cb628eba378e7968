import { createOverload, type Overload } from '../../src/http/overload.ts';

describe('an overload', () => {
  let overload: Overload;
  beforeEach(async () => {
    overload = createOverload(15);
    await turn();
    overload.wasShortTurn();
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
    for (let turns = 0; turns < 40; turns++) {
      await turn();
      compute(5);
      found.push(overload.wasShortTurn());
    }

    expect(found).toContain(true);
    expect(found).toContain(false);
  });

  it('lets in one at a time while the thread never rests, and more while it does', async () => {
    compute(20);
    overload.adjust(overload.most);
    expect(overload.most).toBe(1);

    for (let pauses = 0; pauses < 30; pauses++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      overload.adjust(overload.most);
    }
    expect(overload.most).toBeGreaterThan(4);
    expect(overload.most).toBeLessThanOrEqual(15);
  });
});

/** The next turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function compute(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

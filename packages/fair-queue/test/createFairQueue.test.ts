import { setImmediate as soon } from 'node:timers/promises';
import { createFairQueue, type FairQueue, type Limits, type Permit, RefusedError } from '../src/index.ts';
import { VirtualClock } from './simulation/VirtualClock.ts';

let clock: VirtualClock;
/** The pieces that began, and the reasons of those that were refused, in this order. */
let begun: string[];
let refused: string[];
let permits: Map<string, Permit>;
beforeEach(() => {
  clock = new VirtualClock();
  begun = [];
  refused = [];
  permits = new Map();
});

const create = (limits: Limits) => createFairQueue(limits, clock);

/** Named by its flow, such as `tenant/flow`, and a number. */
function submit(queue: FairQueue, name: string, piece: { costMs?: number; bytes?: number; waitMs?: number } = {}) {
  const permit = queue.submit({ path: pathOf(name), costMs: 1, ...piece }, outcomeOf(name));
  permits.set(name, permit);
}

const outcomeOf = (name: string) => ({
  begin: () => begun.push(name),
  refuse: ({ reason }: RefusedError) => refused.push(`${name}: ${reason}`),
});

const pathOf = (name: string) => (name.split(' ')[0] ?? '').split('/');

const endAtOnce = (name: string) => (permit: Permit) => {
  begun.push(name);
  permit.release();
};

/** Ends the pieces in turn: each must have begun by then, and takes so long. */
function endAll(tookMs: (name: string) => number = () => 1): void {
  for (let ended = 0; ended < begun.length; ended++) {
    clock.compute(tookMs(begun[ended] ?? ''));
    permits.get(begun[ended] ?? '')?.release();
  }
}

describe('the order', () => {
  it('is first in, first out within a flow', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(queue, name);

    endAll();

    expect(begun).toEqual(['a 1', 'a 2', 'a 3']);
    expect(queue.held + queue.waiting).toBe(0);
  });

  it('counts the permits of each tenant', () => {
    const queue = create({ slots: 3 });
    for (const name of ['a/x 1', 'a/y 1', 'b 1', 'b 2']) submit(queue, name);

    expect(['a', 'b', 'c'].map((tenant) => queue.heldBy(tenant))).toEqual([2, 1, 0]);

    endAll();

    expect(['a', 'b'].map((tenant) => queue.heldBy(tenant))).toEqual([0, 0]);
  });

  it('gives each tenant its share, however much one of them sends', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4', 'b 1', 'b 2', 'c 1']) submit(queue, name);

    endAll();

    expect(begun).toEqual(['a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3', 'a 4']);
  });

  it('counts cost and not pieces', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2']) submit(queue, name, { costMs: 3 });
    for (const name of ['b 1', 'b 2', 'b 3', 'b 4']) submit(queue, name);

    endAll((name) => (name.startsWith('a') ? 3 : 1));

    expect(begun).toEqual(['a 1', 'b 1', 'b 2', 'b 3', 'a 2', 'b 4']);
  });

  it('corrects an estimate by what a piece has really cost', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'b 1', 'b 2', 'b 3']) submit(queue, name);

    clock.compute(2.5);
    permits.get('a 1')?.release();
    for (const name of ['b 1', 'b 2', 'b 3', 'a 2']) {
      expect(begun.at(-1)).toBe(name);
      clock.compute(1);
      permits.get(name)?.release();
    }
  });

  it('takes the cost from the meter of a piece', () => {
    const queue = create({ slots: 1 });
    let usedMs = 100;
    queue.submit(
      { path: ['a'], costMs: 1, usedMs: () => usedMs },
      { begin: (permit) => permits.set('a 1', permit), refuse: fail },
    );
    for (const name of ['b 1', 'a 2', 'b 2', 'b 3']) submit(queue, name);

    clock.compute(50);
    usedMs = 102.5;
    permits.get('a 1')?.release();
    endAll();

    expect(begun).toEqual(['b 1', 'b 2', 'b 3', 'a 2']);
  });

  it('charges a piece that takes long while it runs', () => {
    const queue = create({ slots: 2 });
    for (const name of ['a long', 'b 1', 'a 2', 'b 2', 'b 3']) submit(queue, name);

    clock.compute(10);
    permits.get('b 1')?.release();

    // Without the time of the long one, both would have had as much.
    expect(begun).toEqual(['a long', 'b 1', 'a 2']);
    clock.compute(1);
    permits.get('a 2')?.release();
    expect(begun.at(-1)).toBe('b 2');
  });

  it('earns a flow nothing while it rests, and keeps its debt', () => {
    const queue = create({ slots: 1 });
    submit(queue, 'busy 1');
    for (let piece = 2; piece < 6; piece++) {
      submit(queue, `busy ${piece}`);
      clock.compute(100);
      permits.get(`busy ${piece - 1}`)?.release();
    }

    for (const name of ['late 1', 'late 2', 'late 3']) submit(queue, name, { costMs: 100 });
    submit(queue, 'busy 6', { costMs: 100 });
    clock.compute(100);
    permits.get('busy 5')?.release();
    clock.compute(100);
    permits.get('late 1')?.release();

    expect(begun.slice(-3)).toEqual(['busy 5', 'late 1', 'late 2']);
    clock.compute(100);
    permits.get('late 2')?.release();
    expect(begun.at(-1)).toBe('busy 6');
  });

  it('lets the flows of a branch share what the branch gets', () => {
    const queue = create({ slots: 1 });
    for (const name of ['s/a 1', 's/a 2', 's/a 3', 's/b 1', 's/b 2', 't 1', 't 2', 't 3']) submit(queue, name);

    endAll();

    expect(begun).toEqual(['s/a 1', 't 1', 's/b 1', 't 2', 's/a 2', 't 3', 's/b 2', 's/a 3']);
  });

  it('is that of arrival among flows that differ by less than the burst', () => {
    const queue = create({ slots: 1, burstMs: 2 });
    for (const name of ['a 1', 'a 2', 'b 1', 'a 3', 'a 4', 'a 5', 'b 2']) submit(queue, name);

    endAll();

    expect(begun).toEqual(['a 1', 'a 2', 'b 1', 'a 3', 'a 4', 'b 2', 'a 5']);
  });
});

describe('permits', () => {
  it('go from the reserve to tenants that hold none', () => {
    const queue = create({ slots: 2, reserve: 1 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'c 1']) submit(queue, name);

    expect(begun).toEqual(['a 1', 'a 2', 'b 1']);
    permits.get('b 1')?.release();
    expect(begun.slice(3)).toEqual(['b 2']);
    permits.get('b 2')?.release();
    expect(begun.slice(4)).toEqual(['c 1']);
    permits.get('c 1')?.release();
    expect(begun.slice(5)).toEqual([]);
  });

  it('are limited for each tenant', () => {
    const queue = create({ slots: Number.POSITIVE_INFINITY, slotsPerTenant: 2 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1', 'b 2', 'b 3']) submit(queue, name);

    expect(begun).toEqual(['a 1', 'a 2', 'b 1', 'b 2']);
    permits.get('b 1')?.release();
    expect(begun.slice(4)).toEqual(['b 3']);
  });

  it('are taken once and given back once', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(queue, name);

    for (let times = 0; times < 3; times++) permits.get('a 1')?.release();

    expect(begun).toEqual(['a 1', 'a 2']);
    expect(queue.held).toBe(1);
  });

  it('are given back during a pause, and taken again at once', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(queue, name);

    permits.get('a 1')?.pause();
    permits.get('a 1')?.pause();
    expect(begun).toEqual(['a 1', 'a 2']);
    permits.get('a 1')?.resume();
    expect(queue.held).toBe(1);
    permits.get('a 1')?.resume();
    permits.get('a 1')?.resume();
    expect(queue.held).toBe(2);

    permits.get('a 2')?.release();
    expect(begun).toEqual(['a 1', 'a 2']);
    permits.get('a 1')?.release();
    expect(begun).toEqual(['a 1', 'a 2', 'a 3']);
  });

  it('are taken again by turns after a pause', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(queue, name);
    permits.get('a 1')?.pause();
    permits.get('a 1')?.requeue(outcomeOf('a 1 again'));

    for (const name of ['a 2', 'a 3']) permits.get(name)?.release();

    expect(begun).toEqual(['a 1', 'a 2', 'a 3', 'a 1 again']);
    expect(queue.held).toBe(1);
  });

  it('stay paused after a turn if there is another pause', () => {
    const queue = create({ slots: 1 });
    submit(queue, 'a 1');
    for (let pause = 0; pause < 2; pause++) permits.get('a 1')?.pause();

    permits.get('a 1')?.requeue(outcomeOf('a 1 again'));
    expect(begun).toEqual(['a 1', 'a 1 again']);
    expect(queue.held).toBe(0);
    permits.get('a 1')?.resume();

    expect(queue.held).toBe(1);
  });

  it('are not taken by a piece that is paused while it waits', () => {
    const queue = create({ slots: 1 });
    for (const name of ['a 1', 'a 2', 'a 3']) submit(queue, name);
    permits.get('a 2')?.pause();

    permits.get('a 1')?.release();

    expect(begun).toEqual(['a 1', 'a 2', 'a 3']);
    expect(queue.held).toBe(1);
    permits.get('a 2')?.resume();
    expect(queue.held).toBe(2);
  });

  it('are charged to the other flow after a move', () => {
    const queue = create({ slots: 1, slotsPerTenant: 1 });
    submit(queue, 'a 1');
    permits.get('a 1')?.move(['b']);
    for (const name of ['b 2', 'a 2']) submit(queue, name);

    clock.compute(10);
    permits.get('a 1')?.release();

    expect(begun).toEqual(['a 1', 'a 2']);
  });

  it('are free for others when a piece that begins ends at once', () => {
    const queue = create({ slots: 1 });
    submit(queue, 'a 1');
    const names = Array.from({ length: 10_000 }, (_, number) => `a short ${number}`);
    for (const name of names) {
      const outcome = { begin: endAtOnce(name), refuse: fail };
      queue.submit({ path: ['a'], costMs: 1 }, outcome);
    }

    permits.get('a 1')?.release();

    expect(begun.slice(1)).toEqual(names);
    expect(queue.held + queue.waiting).toBe(0);
  });
});

describe('waiting pieces', () => {
  it('are limited in number, and a flow below its share displaces the newest of the flow that has most', () => {
    const queue = create({ slots: 1, maxWaiting: 4 });
    for (const name of ['a 1', 'a 2', 'a 3', 'a 4', 'a 5', 'a 6']) submit(queue, name);
    expect(refused).toEqual(['a 6: full']);

    for (const name of ['b 1', 'b 2', 'b 3']) submit(queue, name);

    expect(refused.slice(1)).toEqual(['a 5: full', 'a 4: full', 'b 3: full']);
    expect(queue.waiting).toBe(4);
    expect(queue.isFull(['a'])).toBe(true);
    expect(queue.isFull(['c'])).toBe(false);
  });

  it('are limited in bytes', () => {
    const queue = create({ slots: 1, maxWaitingBytes: 100 });
    submit(queue, 'a 1');
    for (const name of ['a 2', 'a 3']) submit(queue, name, { bytes: 50 });
    submit(queue, 'a 4', { bytes: 1 });
    submit(queue, 'b 1', { bytes: 51 });
    expect(refused).toEqual(['a 4: full', 'b 1: full']);

    submit(queue, 'b 2', { bytes: 50 });

    expect(refused.slice(2)).toEqual(['a 3: full']);
    expect(queue.waitingBytes).toBe(100);
    expect(queue.isFull(['b'], 1)).toBe(true);
    expect(queue.isFull(['b'])).toBe(false);
  });

  it('may fill the share of their flow, whatever else the tenant has', () => {
    const queue = create({ slots: 1, maxWaiting: 4 });
    for (const name of ['t/a 1', 't/a 2', 't/a 3', 't/a 4', 't/a 5', 't/b 1']) submit(queue, name);

    expect(refused).toEqual(['t/a 5: full']);
    expect(queue.isFull(['t', 'c'])).toBe(false);
  });

  it('are limited for each tenant', () => {
    const queue = create({ slots: 1, maxWaiting: 9, maxWaitingPerTenant: 1 });

    for (const name of ['a 1', 'a 2', 'a 3', 'b 1']) submit(queue, name);

    expect(refused).toEqual(['a 3: full']);
    expect(queue.isFull(['a'])).toBe(true);
  });

  it('may fill the share of their flow, where the tenant is limited, too', () => {
    const queue = create({ slots: 1, maxWaiting: 9, maxWaitingPerTenant: 2 });

    for (const name of ['t/a 1', 't/a 2', 't/a 3', 't/b 1', 't/b 2', 'u 1']) submit(queue, name);

    expect(refused).toEqual(['t/a 3: full', 't/b 2: full']);
    expect(queue.waiting).toBe(3);
  });

  it('are refused at their deadline', () => {
    const queue = create({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2']) submit(queue, name);
    submit(queue, 'a 3', { waitMs: 10 });

    clock.step();
    expect([refused, clock.now()]).toEqual([['a 3: deadline'], 10]);
    clock.step();
    expect([refused, clock.now()]).toEqual([['a 3: deadline', 'a 2: deadline'], 20]);
    permits.get('a 1')?.release();
    expect(begun).toEqual(['a 1']);
  });

  it('are refused when their turn comes after their deadline, before the timer', () => {
    const queue = create({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2', 'b 1']) submit(queue, name, { waitMs: name === 'b 1' ? 100 : 20 });

    clock.compute(50);
    permits.get('a 1')?.release();

    expect(refused).toEqual([]);
    expect(begun).toEqual(['a 1', 'b 1']);
    permits.get('b 1')?.release();
    expect(refused).toEqual(['a 2: deadline']);
  });

  it('get their turn when the one before is refused', () => {
    const queue = create({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2']) submit(queue, name);

    permits.get('a 2')?.release();
    permits.get('a 1')?.release();
    submit(queue, 'a 3');

    expect(begun).toEqual(['a 1', 'a 3']);
    expect(refused).toEqual([]);
  });

  it('continue to wait in another flow after a move', () => {
    const queue = create({ slots: 1, waitMs: 20 });
    for (const name of ['a 1', 'a 2', 'a 3', 'b 1']) submit(queue, name);

    permits.get('a 3')?.move(['b']);
    clock.compute(1);
    endAll();

    expect(begun).toEqual(['a 1', 'b 1', 'a 3', 'a 2']);
  });

  it('are limited, too, when a refused piece submits another', () => {
    const queue = create({ slots: 1, maxWaiting: 2 });
    for (const name of ['a 1', 'a 2']) submit(queue, name);
    queue.submit({ path: ['a'], costMs: 1 }, { begin: fail, refuse: () => submit(queue, 'b 1') });

    submit(queue, 'b 2');

    expect(refused).toEqual(['b 2: full']);
    expect(queue.waiting).toBe(2);
    endAll();
    expect(begun).toEqual(['a 1', 'b 1', 'a 2']);
  });

  it('get their turn when a piece that begins submits them', () => {
    const queue = create({ slots: 2 });
    const begin = (permit: Permit) => {
      permits.set('a 1', permit);
      for (const name of ['a 2', 'b 1']) submit(queue, name);
    };

    queue.submit({ path: ['a'], costMs: 1 }, { begin, refuse: fail });

    expect(begun).toEqual(['b 1']);
    permits.get('a 1')?.release();
    expect(begun).toEqual(['b 1', 'a 2']);
  });
});

describe('promises', () => {
  it('resolve to a permit when it is their turn', async () => {
    const queue = create({ slots: 1 });
    const first = await queue.acquire({ path: ['a'], costMs: 1 });
    const second = queue.acquire({ path: ['a'], costMs: 1 });

    first.release();
    (await second).release();

    expect(queue.held).toBe(0);
  });

  it('give the permit back after work that fails', async () => {
    const queue = create({ slots: 1 });
    const failing = queue.run({ path: ['a'], costMs: 1 }, () => Promise.reject(new Error('broken')));
    const next = queue.run({ path: ['a'], costMs: 1 }, async () => 'done');

    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
    expect(queue.held).toBe(0);
  });

  it('reject when the signal is aborted, with its reason', async () => {
    const queue = create({ slots: 1 });
    const held = await queue.acquire({ path: ['a'], costMs: 1 });
    const leaving = new AbortController();
    const left = queue.acquire({ path: ['a'], costMs: 1, signal: leaving.signal });

    leaving.abort(new Error('gone'));

    await expect(left).rejects.toMatchObject({ name: 'RefusedError', reason: 'aborted', cause: new Error('gone') });
    const late = queue.acquire({ path: ['a'], costMs: 1, signal: leaving.signal });
    await expect(late).rejects.toThrow(RefusedError);
    held.release();
    expect(queue.held + queue.waiting).toBe(0);
  });

  it('no longer listen to the signal of a piece that has begun', async () => {
    const queue = create({ slots: 1 });
    const leaving = new AbortController();
    const held = await queue.acquire({ path: ['a'], costMs: 1 });
    const next = queue.acquire({ path: ['a'], costMs: 1, signal: leaving.signal });
    held.release();
    const permit = await next;

    leaving.abort();
    await soon();

    expect(queue.held).toBe(1);
    permit.release();
    expect(queue.held).toBe(0);
  });
});

describe('a mistake', () => {
  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('such as a cost of %s throws', (costMs) => {
    expect(() => create({ slots: 1 }).submit({ path: ['a'], costMs }, outcomeOf('a'))).toThrow(RangeError);
  });

  it('such as bytes below 0 throws', () => {
    expect(() => submit(create({ slots: 1 }), 'a', { bytes: -1 })).toThrow(RangeError);
  });

  it.each([
    ['a', 'a/b'],
    ['a/b', 'a'],
    ['a/b/c', 'a/b'],
  ])('such as the paths %s and %s of two flows throws, and changes nothing', (one, other) => {
    const queue = create({ slots: 1 });
    submit(queue, one);

    expect(() => submit(queue, other)).toThrow(TypeError);

    permits.get(one)?.release();
    submit(queue, one);
    expect(begun).toEqual([one, one]);
  });

  it('such as an empty path throws', () => {
    expect(() => create({ slots: 1 }).submit({ path: [], costMs: 1 }, outcomeOf(''))).toThrow(TypeError);
  });

  it('such as a meter that goes back or is no number harms no other flow', () => {
    const queue = create({ slots: 1 });
    const meters = [Number.NaN, 5, -100, Number.NaN];
    queue.submit({ path: ['a'], costMs: 1, usedMs: () => meters.shift() ?? 0 }, outcomeOf('a'));
    for (const name of ['b 1', 'a 2', 'b 2']) submit(queue, name);

    queue.submit({ path: ['c'], costMs: 1 }, outcomeOf('c'));

    expect(queue.waiting).toBe(4);
  });
});

function fail(): void {
  throw new Error('This must not be called');
}

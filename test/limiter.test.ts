import { setImmediate as soon } from 'node:timers/promises';
import { DatabaseUnavailable } from '../src/database/unavailable.ts';
import { createLimiter } from '../src/limiter.ts';
import { createTestClock, type TestClock } from './support/clock.ts';

let clock: TestClock;
beforeEach(() => {
  clock = createTestClock();
});

/** Works that end when told to. */
function createWorks() {
  const started: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const work = (id: number) => () => {
    started.push(id);
    return new Promise<number>((resolve, reject) => {
      ends[id] = (error) => (error ? reject(error) : resolve(id));
    });
  };
  return { started, work, end: (id: number, error?: Error) => ends[id]?.(error) };
}

test('runs so many at once, the others in their turn', async () => {
  const { started, work, end } = createWorks();
  const limit = createLimiter({ parallel: 2, waiting: 2, refusal: () => new Error('full') });
  const results = [0, 1, 2, 3].map((id) => limit.run(work(id)));
  expect(started).toEqual([0, 1]);

  end(1);
  await results[1];
  await Promise.resolve();
  expect(started).toEqual([0, 1, 2]);

  end(0);
  await results[0];
  await Promise.resolve();
  expect(started).toEqual([0, 1, 2, 3]);
  end(2);
  end(3);
  expect(await Promise.all(results)).toEqual([0, 1, 2, 3]);
});

test('refuses at once when too many are waiting, and takes new ones afterwards', async () => {
  const { work, end } = createWorks();
  const limit = createLimiter({ parallel: 1, waiting: 1, refusal: () => new Error('full') });
  const [first, second] = [limit.run(work(0)), limit.run(work(1))];

  await expect(limit.run(work(2))).rejects.toThrow('full');
  expect(limit.refuseIfFull).toThrow('full');

  end(0);
  await first;
  expect(limit.refuseIfFull).not.toThrow();
  const third = limit.run(work(3));
  end(1);
  await second;
  await Promise.resolve();
  end(3);
  expect(await third).toBe(3);
});

test("of several flows it is each one's turn, however much one of them sends", async () => {
  const { started, work, end } = createWorks();
  const limit = createLimiter({ parallel: 1, waiting: 10, refusal: () => new Error('full') });
  const run = (id: number, flow: string) => limit.run(work(id), undefined, flow);
  const results = [
    ...[0, 1, 2, 3].map((id) => run(id, 'busy')),
    ...[10, 11].map((id) => run(id, 'neighbour')),
    run(20, 'third'),
  ];

  for (const id of [0, 1, 10, 20, 2, 11, 3]) {
    expect(started.at(-1)).toBe(id);
    end(id);
    await soon();
  }
  await Promise.all(results);
});

test("a flow that has taken the room refuses its own, and not another one's up to its share", async () => {
  const { work, end } = createWorks();
  const limit = createLimiter({ parallel: 1, waiting: 4, refusal: () => new Error('full') });
  const busy = [0, 1, 2, 3, 4].map((id) => limit.run(work(id), undefined, 'busy'));
  await expect(limit.run(work(5), undefined, 'busy')).rejects.toThrow('full');

  const others = [10, 11].map((id) => limit.run(work(id), undefined, 'neighbour'));
  await expect(limit.run(work(12), undefined, 'neighbour')).rejects.toThrow('full');
  await expect(limit.run(work(6), undefined, 'busy')).rejects.toThrow('full');

  for (const id of [0, 1, 10, 2, 11, 3, 4]) {
    end(id);
    await soon();
  }
  expect(await Promise.all([...busy, ...others])).toEqual([0, 1, 2, 3, 4, 10, 11]);
});

test('a flow whose last one has left has no turn', async () => {
  const { started, work, end } = createWorks();
  const limit = createLimiter({ parallel: 1, waiting: 4, refusal: () => new Error('full') });
  const leaving = new AbortController();
  const first = limit.run(work(0), undefined, 'busy');
  const gone = limit.run(work(10), leaving.signal, 'neighbour');
  const second = limit.run(work(1), undefined, 'busy');

  leaving.abort();
  await expect(gone).rejects.toThrow('full');
  end(0);
  await first;
  await soon();
  expect(started).toEqual([0, 1]);
  end(1);
  await second;
});

test('a work that fails gives its place away, too', async () => {
  const { work, end } = createWorks();
  const limit = createLimiter({ parallel: 1, waiting: 1, refusal: () => new Error('full') });
  const [first, second] = [limit.run(work(0)), limit.run(work(1))];

  end(0, new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await Promise.resolve();
  end(1);

  expect(await second).toBe(1);
});

const never = new AbortController().signal;
const minute = 60_000;

test('as many as allowed begin at once, the others in their order as soon as one ends', async () => {
  const { take } = createTurns(2, minute);
  const begun: string[] = [];
  const ends = ['a', 'b', 'c', 'd'].map(async (name) => {
    const done = await take(never);
    begun.push(name);
    return done;
  });
  await soon();
  expect(begun).toEqual(['a', 'b']);

  (await ends[1])?.();
  await soon();
  expect(begun).toEqual(['a', 'b', 'c']);

  (await ends[0])?.();
  (await ends[2])?.();
  await soon();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
});

test('who waits too long is told so, and takes no turn from those behind', async () => {
  const { take } = createTurns(1, 20);
  const done = await take(never);
  let refusal: unknown;
  take(never).catch((error) => {
    refusal = error;
  });
  await clock.advance(19);
  expect(refusal).toBeUndefined();

  await clock.advance(1);
  expect(refusal).toBeInstanceOf(DatabaseUnavailable);
  expect(refusal).toMatchObject({ cause: { name: 'TimeoutError' } });

  const next = take(never);
  done();
  await expect(next).resolves.toBeInstanceOf(Function);
});

test('who goes away leaves the queue', async () => {
  const { take } = createTurns(1, minute);
  const done = await take(never);
  const leaving = new AbortController();
  const left = take(leaving.signal);
  const next = take(never);
  leaving.abort();
  await expect(left).rejects.toThrow(DatabaseUnavailable);
  await expect(take(AbortSignal.abort())).rejects.toThrow(DatabaseUnavailable);

  done();
  await expect(next).resolves.toBeInstanceOf(Function);
});

/** A limiter whose works are over when what `take` resolves to is called. */
function createTurns(parallel: number, waitMs: number) {
  const refusal = (cause: unknown) => new DatabaseUnavailable({ cause });
  const { run } = createLimiter({ parallel, waiting: Number.POSITIVE_INFINITY, waitMs, refusal }, clock);
  const take = (signal: AbortSignal) =>
    new Promise<() => void>((begin, refuse) => {
      run(() => new Promise<void>((end) => begin(end)), signal).catch(refuse);
    });
  return { take };
}

import { setImmediate as soon } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../src/database/pool/unavailable.ts';
import { createPermits } from '../../src/scheduling/permits.ts';
import { createTestClock, type TestClock } from '../support/clock.ts';

const tenant = ['tenant'];
let clock: TestClock;
beforeEach(() => {
  clock = createTestClock();
});

/** Works that the test ends. */
function createWorks() {
  const started: number[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const work = (id: number) => () => {
    started.push(id);
    return new Promise<number>((resolve, reject) => {
      ends[id] = (error) => (error ? reject(error) : resolve(id));
    });
  };
  const end = (id: number, error?: Error) => ends[id]?.(error);
  /** One after the other: each has begun when the one before it was over, and takes so long. */
  const endInOrder = async (order: readonly (readonly [id: number, tookMs: number])[]) => {
    for (const [id, tookMs] of order) {
      await soon();
      expect(started.at(-1)).toBe(id);
      clock.compute(tookMs);
      end(id);
    }
  };
  return { started, work, end, endInOrder };
}

test('runs so many at once, the others in order', async () => {
  const { started, work, end } = createWorks();
  const permits = createPermits({ maxHeld: 2, maxWaiting: 2, refusal: () => new Error('full') });
  const results = [0, 1, 2, 3].map((id) => permits.run(tenant, work(id)));
  await soon();
  expect(started).toEqual([0, 1]);

  end(1);
  await results[1];
  await soon();
  expect(started).toEqual([0, 1, 2]);

  end(0);
  await results[0];
  await soon();
  expect(started).toEqual([0, 1, 2, 3]);
  end(2);
  end(3);
  expect(await Promise.all(results)).toEqual([0, 1, 2, 3]);
});

test('refuses at once when too many are waiting, and takes new ones afterwards', async () => {
  const { work, end } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 1, refusal: () => new Error('full') });
  const [first, second] = [permits.run(tenant, work(0)), permits.run(tenant, work(1))];

  await expect(permits.run(tenant, work(2))).rejects.toThrow('full');
  expect(() => permits.refuseIfFull(tenant)).toThrow('full');

  await soon();
  end(0);
  await first;
  expect(() => permits.refuseIfFull(tenant)).not.toThrow();
  const third = permits.run(tenant, work(3));
  await soon();
  end(1);
  await second;
  await soon();
  end(3);
  expect(await third).toBe(3);
});

test('fair queueing: each flow is served, however much one of them sends', async () => {
  const { work, endInOrder } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 10, refusal: () => new Error('full') }, clock);
  const run = (id: number, flow: string) => permits.run([flow], work(id));
  const results = [
    ...[0, 1, 2, 3].map((id) => run(id, 'busy')),
    ...[10, 11].map((id) => run(id, 'neighbour')),
    run(20, 'third'),
  ];

  await endInOrder([0, 10, 20, 1, 11, 2, 3].map((id) => [id, 200]));
  await Promise.all(results);
});

test('the flow that has held its permits for the shortest time is next', async () => {
  const { work, endInOrder } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 20, refusal: () => new Error('full') }, clock);
  const slow = [0, 1].map((id) => permits.run(['slow'], work(id)));
  const quick = [10, 11, 12, 13].map((id) => permits.run(['quick'], work(id)));

  await endInOrder([
    [0, 600],
    [10, 180],
    [11, 180],
    [12, 180],
    [13, 180],
    [1, 600],
  ]);
  await Promise.all([...slow, ...quick]);
});

test('an idle flow saves up nothing', async () => {
  const { work, endInOrder } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 20, refusal: () => new Error('full') }, clock);
  const busy = [0, 1, 2, 3].map((id) => permits.run(['busy'], work(id)));
  await endInOrder([
    [0, 2000],
    [1, 2000],
  ]);
  await soon();

  // It has used nothing in the 4 s; but from now on it has only its share.
  const late = [10, 11, 12].map((id) => permits.run(['late'], work(id)));
  await endInOrder([2, 10, 11, 3, 12].map((id) => [id, id < 10 ? 2000 : 1200]));
  await Promise.all([...busy, ...late]);
});

test('flows of one branch share what the branch gets', async () => {
  const { work, endInOrder } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 20, refusal: () => new Error('full') }, clock);
  const results = [
    permits.run(['strangers', 'a'], work(0)),
    ...[1, 2].map((id) => permits.run(['strangers', 'a'], work(id))),
    ...[10, 11].map((id) => permits.run(['strangers', 'b'], work(id))),
    ...[20, 21, 22].map((id) => permits.run(['organization'], work(id))),
  ];

  await endInOrder([0, 20, 10, 21, 1, 22, 11, 2].map((id) => [id, 200]));
  await Promise.all(results);
});

test('flows that have had about as much are served in the order of arrival', async () => {
  const { work, endInOrder } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 20, refusal: () => new Error('full') }, clock);
  const flows = ['one', 'one', 'other', 'one', 'one', 'other', 'one', 'one', 'other'];
  const results = flows.map((flow, id) => permits.run([flow], work(id)));

  // Only after 6 is the one flow more than 50 ms ahead, with 100 to 40.
  await endInOrder([0, 1, 2, 3, 4, 5, 6, 8, 7].map((id) => [id, 20]));
  await Promise.all(results);
});

test('a tenant that holds none gets a permit of the reserve at once, and queues for a second one', async () => {
  const { started, work, end } = createWorks();
  const permits = createPermits({ maxHeld: 2, reserve: 1, maxWaiting: 20, refusal: () => new Error('full') }, clock);
  const busy = [0, 1, 2].map((id) => permits.run(['busy'], work(id)));
  await soon();
  expect(started).toEqual([0, 1]);

  const others = [10, 11].map((id) => permits.run(['neighbour'], work(id)));
  const third = permits.run(['third'], work(20));
  await soon();
  expect(started).toEqual([0, 1, 10]);

  // The tenant that holds fewest goes first.
  for (const [id, next] of [
    [0, 20],
    [20, 20],
    [1, 2],
    [10, 11],
  ] as const) {
    end(id);
    await soon();
    expect(started.at(-1)).toBe(next);
  }
  for (const id of [2, 11]) end(id);
  await Promise.all([...busy, ...others, third]);
});

test('a tenant holds no more than it may, however many are free', async () => {
  const { started, work, end } = createWorks();
  const limits = { maxHeld: Number.POSITIVE_INFINITY, maxHeldByTenant: 2, maxWaiting: 9, maxWaitingOfTenant: 2 };
  const permits = createPermits({ ...limits, refusal: () => new Error('full') }, clock);
  const own = [0, 1, 2, 3].map((id) => permits.run(['a'], work(id)));
  await expect(permits.run(['a'], work(4))).rejects.toThrow('full');
  const others = [10, 11, 12].map((id) => permits.run(['b'], work(id)));
  await soon();
  expect(started).toEqual([0, 1, 10, 11]);

  for (const id of [0, 1, 10, 2, 3, 11, 12]) {
    end(id);
    await soon();
  }
  expect(await Promise.all([...own, ...others])).toEqual([0, 1, 2, 3, 10, 11, 12]);
});

test("a flow that has filled the queue refuses its own, and not another one's up to its share", async () => {
  const { work, end } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 4, refusal: () => new Error('full') }, clock);
  const busy = [0, 1, 2, 3, 4].map((id) => permits.run(['busy'], work(id)));
  await expect(permits.run(['busy'], work(5))).rejects.toThrow('full');

  const others = [10, 11].map((id) => permits.run(['neighbour'], work(id)));
  await expect(permits.run(['neighbour'], work(12))).rejects.toThrow('full');
  await expect(permits.run(['busy'], work(6))).rejects.toThrow('full');

  await soon();
  for (const id of [0, 10, 1, 11, 2, 3, 4]) {
    clock.compute(200);
    end(id);
    await soon();
  }
  expect(await Promise.all([...busy, ...others])).toEqual([0, 1, 2, 3, 4, 10, 11]);
});

test('an address has its share of what its tenant may have waiting', async () => {
  const { work, end } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 4, refusal: () => new Error('full') }, clock);
  const flood = [0, 1, 2, 3, 4].map((id) => permits.run(['tenant', 'flooding'], work(id)));
  await expect(permits.run(['tenant', 'flooding'], work(5))).rejects.toThrow('full');

  const other = permits.run(['tenant', 'other'], work(10));
  await soon();

  for (const id of [0, 10, 1, 2, 3, 4]) {
    clock.compute(200);
    end(id);
    await soon();
  }
  expect(await Promise.all([...flood, other])).toEqual([0, 1, 2, 3, 4, 10]);
});

test('a flow whose last one has left gets no permit', async () => {
  const { started, work, end } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 4, refusal: () => new Error('full') });
  const leaving = new AbortController();
  const first = permits.run(['busy'], work(0));
  const gone = permits.run(['neighbour'], work(10), leaving.signal);
  const second = permits.run(['busy'], work(1));

  await soon();
  leaving.abort();
  await expect(gone).rejects.toThrow('full');
  end(0);
  await first;
  await soon();
  expect(started).toEqual([0, 1]);
  end(1);
  await second;
});

test('a work that fails gives its permit back, too', async () => {
  const { work, end } = createWorks();
  const permits = createPermits({ maxHeld: 1, maxWaiting: 1, refusal: () => new Error('full') });
  const [first, second] = [permits.run(tenant, work(0)), permits.run(tenant, work(1))];

  await soon();
  end(0, new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  await soon();
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

test('a waiter that expires is refused, and takes no permit from those behind', async () => {
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

test('a waiter whose signal aborts leaves the queue', async () => {
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

/** Permits whose works are over when what `take` resolves to is called. */
function createTurns(maxHeld: number, waitMs: number) {
  const refusal = (cause: unknown) => new DatabaseUnavailable({ cause });
  const maxWaiting = Number.POSITIVE_INFINITY;
  const { run } = createPermits({ maxHeld, maxWaiting, waitMs, refusal }, clock);
  const take = (signal: AbortSignal) =>
    new Promise<() => void>((begin, refuse) => {
      run(tenant, () => new Promise<void>((end) => begin(end)), signal).catch(refuse);
    });
  return { take };
}

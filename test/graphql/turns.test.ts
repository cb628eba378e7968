import { setImmediate as soon } from 'node:timers/promises';
import { DatabaseUnavailable } from '../../src/database/unavailable.ts';
import { createTurns } from '../../src/graphql/turns.ts';

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
  await expect(take(never)).rejects.toThrow(DatabaseUnavailable);

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

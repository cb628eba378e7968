import { repeat } from '../src/repeat.ts';

test('works again and again, one after the other', async () => {
  const done = Promise.withResolvers<void>();
  let [runs, running, most] = [0, 0, 0];

  const loop = repeat(async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    if (++runs === 3) done.resolve();
  }, 1);
  await done.promise;
  await loop.stop();

  expect([runs >= 3, most, running]).toEqual([true, 1, 0]);
});

test('does not begin once it is stopped', async () => {
  let runs = 0;

  await repeat(async () => void runs++, 1, 60_000).stop();

  expect(runs).toBe(0);
});

test('stops when the running work has ended, whose signal has aborted', async () => {
  const [begun, release] = [Promise.withResolvers<AbortSignal>(), Promise.withResolvers<void>()];
  let hasStopped = false;
  const loop = repeat(async (signal) => {
    begun.resolve(signal);
    await release.promise;
  }, 1);
  const signal = await begun.promise;

  const stopped = loop.stop().then(() => {
    hasStopped = true;
  });
  await new Promise(setImmediate);

  expect([signal.aborted, hasStopped]).toEqual([true, false]);
  release.resolve();
  await stopped;
});

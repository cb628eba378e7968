import { systemClock } from '../../src/scheduling/clock.ts';

// Only the order of events is tested here: how long it takes is up to the machine.

const fires = (delayMs: number) => new Promise<void>((resolve) => systemClock.setTimeout(resolve, delayMs));

test('the system clock goes on, and its timers wait at least for their delay', async () => {
  const since = systemClock.now();

  await fires(10);

  // Node.js rounds to milliseconds.
  expect(systemClock.now() - since).toBeGreaterThanOrEqual(9);
});

test('a timer that is cleared never fires', async () => {
  let fired = 0;
  const clear = systemClock.setTimeout(() => fired++, 1);

  clear();
  await fires(1);

  expect(fired).toBe(0);
});

import { systemClock } from '../../src/scheduling/clock.ts';
import { compute } from '../support/compute.ts';

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

test('an interval fires again and again until it is cleared', async () => {
  let fired = 0;
  await new Promise<void>((resolve) => {
    const clear = systemClock.setInterval(() => {
      if (++fired < 3) return;
      clear();
      resolve();
    }, 1);
  });

  await fires(2);

  expect(fired).toBe(3);
});

test('the event loop is active while this thread computes', () => {
  const before = systemClock.eventLoopUtilization();

  compute(5);

  const after = systemClock.eventLoopUtilization();
  expect(after.active - before.active).toBeGreaterThanOrEqual(4);
  expect(after.idle).toBe(before.idle);
});

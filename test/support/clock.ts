import type { Clock } from '../../src/scheduling/clock.ts';

/** A fake clock: it stands still until a test advances it. */
export type TestClock = Clock & {
  /**
   * Lets time pass in which the thread is idle, and fires the timers that are due meanwhile in their order. After each, the
   * promises settle and the immediates run before the next fires.
   */
  advance(ms: number): Promise<void>;
  /** Lets time pass in which the thread is busy, so that no timer fires; those that are due then fire with the next advance. */
  compute(ms: number): void;
};

export function createTestClock(): TestClock {
  const timers = new Set<Timer>();
  // Anywhere but at zero, so that only differences mean something.
  let now = 1_000_000;
  let activeMs = 0;
  let idleMs = 0;

  const start = (callback: () => void, delayMs: number, periodMs: number | null) => {
    const timer = { callback, dueAt: now + delayMs, periodMs };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  /** The earliest that is due by then; of several, the one that was started first. */
  const nextBy = (end: number): Timer | undefined =>
    [...timers].filter(({ dueAt }) => dueAt <= end).sort((a, b) => a.dueAt - b.dueAt)[0];
  const fire = (timer: Timer) => {
    timers.delete(timer);
    // From now on and not from when it was due, as in Node.js.
    if (timer.periodMs !== null) {
      timer.dueAt = now + timer.periodMs;
      timers.add(timer);
    }
    timer.callback();
  };
  const idleUntil = (time: number) => {
    idleMs += Math.max(0, time - now);
    now = Math.max(now, time);
  };

  return {
    now: () => now,
    // Node.js has no shorter delay.
    setTimeout: (callback, delayMs) => start(callback, Math.max(1, delayMs), null),
    setInterval: (callback, periodMs) => start(callback, periodMs, periodMs),
    eventLoopUtilization: () => ({ idle: idleMs, active: activeMs, utilization: activeMs / (idleMs + activeMs) }),
    async advance(ms) {
      const end = now + ms;
      await settle();
      for (let timer = nextBy(end); timer; timer = nextBy(end)) {
        idleUntil(timer.dueAt);
        fire(timer);
        await settle();
      }
      idleUntil(end);
    },
    compute(ms) {
      now += ms;
      activeMs += ms;
    },
  };
}

type Timer = { readonly callback: () => void; dueAt: number; readonly periodMs: number | null };

/** Two turns of the event loop: the immediates that a timer has set run in the first, those that they set in the second. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));
}

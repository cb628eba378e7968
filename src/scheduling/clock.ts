import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/**
 * A monotonic clock with timers, injected into code about time: tests advance it by hand.
 *
 * Its methods do what those of Node.js with these names do.
 */
export type Clock = {
  /** Milliseconds since an arbitrary point in time. It never goes back, as `Date.now()` may. */
  now(): number;
  /** @returns what clears the timer */
  setTimeout(callback: () => void, delayMs: number): () => void;
  /** @returns what clears the timer */
  setInterval(callback: () => void, periodMs: number): () => void;
  /** How long the event loop of this thread has been idle and active so far. */
  eventLoopUtilization(): EventLoopUtilization;
};

/** The clock of production, by Node.js. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  setInterval(callback, periodMs) {
    const timer = setInterval(callback, periodMs);
    return () => clearInterval(timer);
  },
  eventLoopUtilization: () => performance.eventLoopUtilization(),
};

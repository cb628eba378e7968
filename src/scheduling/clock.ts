import type { Clock } from 'fair-queue';

export type { Clock };

/** The clock of production, by Node.js. It is injected into code about time: tests advance one of their own by hand. */
export const systemClock: Clock = {
  now: () => performance.now(),
  setTimeout(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

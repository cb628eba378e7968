const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

const delays = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours];
const lastDelay = 10 * hours;

/**
 * How long to wait after the `attempts`th attempt, in milliseconds: exponential backoff with jitter.
 * 5 s, 5 min, 30 min, 2 h, 5 h, then 10 h each time, and up to a fifth more, so that the deliveries of an outage do not return all at once.
 */
export const retryDelayMs = (attempts: number, random: () => number = Math.random): number =>
  (delays[attempts - 1] ?? lastDelay) * (1 + random() / 5);

const seconds = 1000;
const minutes = 60 * seconds;
const hours = 60 * minutes;

const delays = [5 * seconds, 5 * minutes, 30 * minutes, 2 * hours, 5 * hours];
const lastDelay = 10 * hours;

/**
 * The wait after the `attempts`th attempt, in milliseconds: exponential backoff with jitter.
 * It is 5 s, 5 min, 30 min, 2 h, 5 h, then 10 h each time. Jitter adds up to a fifth, so that the deliveries of an outage do not all return
 * at once.
 */
export const retryDelayMs = (attempts: number, random: () => number = Math.random): number =>
  (delays[attempts - 1] ?? lastDelay) * (1 + random() / 5);

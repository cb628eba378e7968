import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Clock } from '../clock.ts';

/**
 * Adaptive concurrency limit: how many requests at once keep the thread busy and do not wait for it. To be adjusted every few
 * milliseconds; from 1 to `max`, by one: fewer while the thread never rests, since more would not be served, but later.
 */
export function createThreadLimit(max: number, clock: Clock) {
  const used = createThreadMeter(clock);
  let limit = 1;
  return {
    get: () => limit,
    adjust(held: number) {
      const { utilization } = used();
      if (utilization > 0.85) limit = Math.max(1, Math.min(limit, held) - 1);
      else if (utilization < 0.6) limit = Math.min(max, limit + 1);
    },
  };
}

/**
 * Whether a turn of the event loop was so short that what came in it has hardly waited in its socket. To be asked at the end of each;
 * when all turns are long, one in 50 ms passes for short.
 */
export function createTurnMeter(clock: Clock): () => boolean {
  const used = createThreadMeter(clock);
  let shortAt = clock.now();
  return () => {
    if (used().active > shortTurnMs && clock.now() - shortAt < maxLongTurnsMs) return false;
    shortAt = clock.now();
    return true;
  };
}

const shortTurnMs = 2;
const maxLongTurnsMs = 50;

/** What the thread has done since it was last asked. */
function createThreadMeter(clock: Clock): () => EventLoopUtilization {
  let before = clock.eventLoopUtilization();
  return () => {
    const now = clock.eventLoopUtilization();
    const used = performance.eventLoopUtilization(now, before);
    before = now;
    return used;
  };
}

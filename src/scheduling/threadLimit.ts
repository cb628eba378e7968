import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import type { Clock } from './clock.ts';

/**
 * Adaptive concurrency limit by event-loop utilization: as many requests as keep the thread busy.
 * Adjust it every few milliseconds. It changes by one, from 1 to `max`, and shrinks while the thread is never idle, since more would only
 * wait.
 */
export function createThreadLimit(max: number, clock: Clock) {
  const used = createUtilizationMeter(clock);
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
 * Whether an event-loop tick was so short that requests hardly waited in their sockets meanwhile.
 * Call it at the end of each tick. When all ticks are long, one in 50 ms counts as short, so that some requests are served.
 */
export function createTickMeter(clock: Clock): () => boolean {
  const used = createUtilizationMeter(clock);
  let shortAt = clock.now();
  return () => {
    if (used().active > shortTickMs && clock.now() - shortAt < maxLongTicksMs) return false;
    shortAt = clock.now();
    return true;
  };
}

const shortTickMs = 2;
const maxLongTicksMs = 50;

/** The event loop's utilization since the last call. */
function createUtilizationMeter(clock: Clock): () => EventLoopUtilization {
  let before = clock.eventLoopUtilization();
  return () => {
    const now = clock.eventLoopUtilization();
    const used = performance.eventLoopUtilization(now, before);
    before = now;
    return used;
  };
}

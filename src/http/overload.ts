import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** What lasts from when too many wait until nobody had to be refused for a second. */
export type Overload = {
  /** How many were refused so far. */
  readonly refused: number;
  /** How many may be in at once. */
  readonly most: number;
  /** Whether it is being tried if those who come can be served when they wait. */
  readonly isEasing: boolean;
  /** Somebody was refused. */
  count(): void;
  /** To be told every few milliseconds how many are in. */
  adjust(present: number): void;
  /**
   * To be asked at the end of each turn of the event loop: whether it was so short that whoever came in it has hardly waited in their
   * socket. When all turns are long, now and then one passes for short.
   */
  wasShortTurn(): boolean;
  /** Stops trying; it will be tried again after a while. */
  beStrict(): void;
  isOver(): boolean;
};

/**
 * Clients who ask again at once would keep an overload up that is none any more. So every 5 s it is tried whether they can be served
 * if they wait.
 */
export function createOverload(mostAtOnce: number): Overload {
  const limit = createThreadLimit(mostAtOnce);
  const wasShortTurn = createTurnMeter();
  let refused = 0;
  let calmAt = performance.now() + calmMs;
  let easeAt = performance.now() + easeEveryMs;
  return {
    get refused() {
      return refused;
    },
    get most() {
      return limit.get();
    },
    get isEasing() {
      return performance.now() > easeAt;
    },
    count() {
      refused++;
      calmAt = performance.now() + calmMs;
    },
    adjust: limit.adjust,
    wasShortTurn,
    beStrict() {
      easeAt = performance.now() + easeEveryMs;
    },
    isOver: () => performance.now() > calmAt,
  };
}

const calmMs = 1000;
const easeEveryMs = 5000;
const shortTurnMs = 2;
const mostLongTurnsMs = 50;

function createTurnMeter() {
  const used = createThreadMeter();
  let shortAt = performance.now();
  return () => {
    if (used().active > shortTurnMs && performance.now() - shortAt < mostLongTurnsMs) return false;
    shortAt = performance.now();
    return true;
  };
}

/** How many requests at once keep the thread busy without waiting for it: fewer while it never rests, more while it does. */
function createThreadLimit(most: number) {
  const used = createThreadMeter();
  let limit = 2;
  return {
    get: () => limit,
    adjust(present: number) {
      const { utilization } = used();
      // With one, the others are told while it waits for the database.
      if (utilization > 0.95) limit = Math.max(1, Math.min(limit, present) - 1);
      else if (utilization < 0.7) limit = Math.min(most, limit + 1);
    },
  };
}

/** What the thread has done since it was last asked. */
function createThreadMeter(): () => EventLoopUtilization {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const used = performance.eventLoopUtilization(now, before);
    before = now;
    return used;
  };
}

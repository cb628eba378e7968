import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { type Clock, systemClock } from '../clock.ts';

/**
 * - `young`: a crowd has come. It will soon have been served, or it is the beginning of an overload, of which most will be refused.
 *   So that those who are served then were served fast, the newest go first.
 * - `patient`: the crowd stays, and all are served in turn.
 * - `strict`: too many wait. The newest go first, and whoever waits is refused soon.
 * - `easing`: clients who ask again at once would keep an overload up that is none any more. So every 5 s it is tried whether they can
 *   be served if they wait, until they are a crowd again.
 */
export type Phase = 'young' | 'patient' | 'strict' | 'easing';

/** What lasts from when a crowd waits until for a second there was none, and nobody had to be refused. */
export type Overload = {
  readonly phase: Phase;
  /** Whether more than `mostWaiting` have waited, so that it was no mere crowd. */
  readonly isCertain: boolean;
  /** How many were refused so far. */
  readonly refused: number;
  /** How many may be in at once. */
  readonly most: number;
  /** To be told with each that comes how many wait. @returns whether that has made it certain */
  see(waiting: number): boolean;
  /** Somebody was refused. */
  count(): void;
  /** To be told every few milliseconds how many are in. */
  adjust(present: number): void;
  /**
   * To be asked at the end of each turn of the event loop: whether it was so short that whoever came in it has hardly waited in their
   * socket. When all turns are long, now and then one passes for short.
   */
  wasShortTurn(): boolean;
  isOver(): boolean;
};

/** More are a crowd. */
export const mostBeforeCrowd = 64;

/** To be called when a crowd waits. */
export function createOverload(mostAtOnce: number, mostWaiting: number, clock: Clock = systemClock): Overload {
  const limit = createThreadLimit(mostAtOnce, clock);
  const wasShortTurn = createTurnMeter(clock);
  const youngUntil = clock.now() + youngMs;
  let calmAt = clock.now() + calmMs;
  let easeAt: number | null = null;
  let refused = 0;

  const phase = (): Phase => {
    const now = clock.now();
    if (easeAt === null) return now < youngUntil ? 'young' : 'patient';
    return now < easeAt ? 'strict' : 'easing';
  };
  const stayUp = () => {
    calmAt = clock.now() + calmMs;
  };
  return {
    get phase() {
      return phase();
    },
    get isCertain() {
      return easeAt !== null;
    },
    get refused() {
      return refused;
    },
    get most() {
      return phase() === 'patient' ? mostAtOnce : limit.get();
    },
    see(waiting) {
      const wasCertain = easeAt !== null;
      if (!wasCertain && waiting > mostBeforeCrowd) stayUp();
      const isTooMany = waiting > (wasCertain ? mostBeforeCrowd : mostWaiting);
      if (isTooMany && phase() !== 'strict') easeAt = clock.now() + easeEveryMs;
      return isTooMany && !wasCertain;
    },
    count() {
      refused++;
      stayUp();
    },
    adjust: limit.adjust,
    wasShortTurn,
    isOver: () => clock.now() > calmAt,
  };
}

const youngMs = 100;
const calmMs = 1000;
const easeEveryMs = 5000;
const shortTurnMs = 2;
const mostLongTurnsMs = 50;

function createTurnMeter(clock: Clock) {
  const used = createThreadMeter(clock);
  let shortAt = clock.now();
  return () => {
    if (used().active > shortTurnMs && clock.now() - shortAt < mostLongTurnsMs) return false;
    shortAt = clock.now();
    return true;
  };
}

/** How many requests at once keep the thread busy without waiting for it: fewer while it never rests, more while it does. */
function createThreadLimit(most: number, clock: Clock) {
  const used = createThreadMeter(clock);
  let limit = 1;
  return {
    get: () => limit,
    adjust(present: number) {
      const { utilization } = used();
      // With one, the others are told while it waits for the database. A busier thread would serve no more, but each later.
      if (utilization > 0.85) limit = Math.max(1, Math.min(limit, present) - 1);
      else if (utilization < 0.6) limit = Math.min(most, limit + 1);
    },
  };
}

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

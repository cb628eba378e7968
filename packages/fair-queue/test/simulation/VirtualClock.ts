import type { Clock } from '../../src/index.ts';

/** Discrete-event simulation: a clock that jumps from one timer to the next. */
export class VirtualClock implements Clock {
  #now = 0;
  #started = 0;
  /** A binary heap: each timer is due no later than the two below it. */
  readonly #heap: Timer[] = [];

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, delayMs: number): () => void {
    const timer: Timer = { callback, dueAt: this.#now + delayMs, order: this.#started++ };
    this.#push(timer);
    return () => {
      timer.callback = null;
    };
  }

  /** Lets time pass in which no timer fires, as while the thread computes. */
  compute(ms: number): void {
    this.#now += ms;
  }

  /** Fires the next timer. @returns false if there is none */
  step(): boolean {
    for (let timer = this.#pop(); timer; timer = this.#pop()) {
      const { callback } = timer;
      if (!callback) continue;
      this.#now = Math.max(this.#now, timer.dueAt);
      callback();
      return true;
    }
    return false;
  }

  #push(timer: Timer): void {
    const heap = this.#heap;
    let place = heap.push(timer) - 1;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = heap[above];
      if (!other || isBefore(other, timer)) break;
      heap[place] = other;
      place = above;
    }
    heap[place] = timer;
  }

  #pop(): Timer | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      const [left, right] = [heap[below], heap[below + 1]];
      if (!left) break;
      let least = left;
      if (right && isBefore(right, left)) {
        below++;
        least = right;
      }
      if (isBefore(last, least)) break;
      heap[place] = least;
      place = below;
    }
    heap[place] = last;
    return first;
  }
}

type Timer = { callback: (() => void) | null; readonly dueAt: number; readonly order: number };

const isBefore = (one: Timer, other: Timer) =>
  one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.order < other.order);

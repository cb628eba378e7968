import { type Clock, systemClock } from './clock.ts';

/** How many run at once, how many may wait for their turn and how long, and what refuses the others. */
export type Limits = {
  readonly parallel: number;
  readonly waiting: number;
  /** In milliseconds; without end when it is left out. */
  readonly waitMs?: number;
  readonly refusal: (cause?: unknown) => Error;
};

export type Limiter = {
  /**
   * Runs a work at once or in its turn, first come, first served. Rejects with the refusal: at once when too many are waiting, and
   * before its turn when it has waited too long or `signal` aborts.
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Throws the refusal when too many are waiting. */
  refuseIfFull(): void;
};

/** A limiter for each key, while it has anything to do. */
export function createKeyedLimiter(limits: Limits, clock: Clock = systemClock) {
  const limiters = new Map<string, { readonly limiter: Limiter; users: number }>();
  return {
    async run<T>(key: string, work: () => Promise<T>): Promise<T> {
      const entry = limiters.get(key) ?? { limiter: createLimiter(limits, clock), users: 0 };
      limiters.set(key, entry);
      entry.users++;
      try {
        return await entry.limiter.run(work);
      } finally {
        if (--entry.users === 0) limiters.delete(key);
      }
    },
  };
}

export function createLimiter({ parallel, waiting, waitMs, refusal }: Limits, clock: Clock = systemClock): Limiter {
  const queue = new Set<() => void>();
  let running = 0;

  const refuseIfFull = () => {
    if (running >= parallel && queue.size >= waiting) throw refusal();
  };

  const wait = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const deadline = waitMs === undefined ? [] : [clock.timeoutSignal(waitMs)];
      const end = AbortSignal.any([...(signal ? [signal] : []), ...deadline]);
      const leave = () => {
        queue.delete(begin);
        reject(refusal(end.reason));
      };
      const begin = () => {
        queue.delete(begin);
        end.removeEventListener('abort', leave);
        resolve();
      };
      queue.add(begin);
      if (end.aborted) leave();
      else end.addEventListener('abort', leave);
    });

  return {
    refuseIfFull,
    run: async (work, signal) => {
      refuseIfFull();
      if (running < parallel) running++;
      // Whoever ends hands its place on, so that nobody who comes later takes it.
      else await wait(signal);

      try {
        return await work();
      } finally {
        const [next] = queue;
        if (next) next();
        else running--;
      }
    },
  };
}

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
   * Runs a work at once or in its turn. Rejects with the refusal: at once when too many are waiting, and before its turn when it has
   * waited too long or `signal` aborts.
   *
   * @param flow whose work it is: of several it is each one's turn, round robin, and within one the first that came is first
   */
  run<T>(work: () => Promise<T>, signal?: AbortSignal, flow?: string): Promise<T>;
  /** Throws the refusal when too many are waiting for one more of this flow to do so. */
  refuseIfFull(flow?: string): void;
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

/** A concurrency limit with fair queueing: round robin over flows (J. Nagle, On packet switches with infinite storage, RFC 970). */
export function createLimiter({ parallel, waiting, waitMs, refusal }: Limits, clock: Clock = systemClock): Limiter {
  /** What begins those that wait, by their flows; first the flow whose turn it is. */
  const queues = new Map<string, Set<() => void>>();
  let queued = 0;
  let running = 0;

  /** A flow that has less than its share of the room may take it while others have more than theirs. */
  const refuseIfFull = (flow = '') => {
    const isFull = running >= parallel && queued >= waiting;
    const own = queues.get(flow)?.size ?? 0;
    if (isFull && own >= Math.floor(waiting / Math.max(1, queues.size))) throw refusal();
  };

  const beginNext = () => {
    const [next] = queues;
    if (!next) {
      running--;
      return;
    }
    const [flow, queue] = next;
    const [begin] = queue;
    queues.delete(flow);
    // It is the others' turn first.
    queues.set(flow, queue);
    begin?.();
  };

  const wait = (signal: AbortSignal | undefined, flow = '') =>
    new Promise<void>((resolve, reject) => {
      const queue = queues.get(flow) ?? new Set();
      queues.set(flow, queue);
      const deadline = waitMs === undefined ? [] : [clock.timeoutSignal(waitMs)];
      const end = AbortSignal.any([...(signal ? [signal] : []), ...deadline]);
      const dequeue = () => {
        queued--;
        queue.delete(begin);
        if (queue.size === 0) queues.delete(flow);
      };
      const leave = () => {
        dequeue();
        reject(refusal(end.reason));
      };
      const begin = () => {
        dequeue();
        end.removeEventListener('abort', leave);
        resolve();
      };
      queue.add(begin);
      queued++;
      if (end.aborted) leave();
      else end.addEventListener('abort', leave);
    });

  return {
    refuseIfFull,
    run: async (work, signal, flow) => {
      refuseIfFull(flow);
      if (running < parallel) running++;
      // What ends hands its place on, so that nothing that comes later takes it.
      else await wait(signal, flow);

      try {
        return await work();
      } finally {
        beginNext();
      }
    },
  };
}

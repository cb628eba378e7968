/** How many run at once, how many may wait for their turn, and what refuses the others. */
export type Limits = { readonly parallel: number; readonly waiting: number; readonly refusal: () => Error };

export type Limiter = {
  /** Runs a work at once or in its turn, first come, first served; rejects at once when too many are waiting. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Throws the refusal when too many are waiting. */
  refuseIfFull(): void;
};

export function createLimiter({ parallel, waiting, refusal }: Limits): Limiter {
  const queue: (() => void)[] = [];
  let running = 0;

  const refuseIfFull = () => {
    if (running >= parallel && queue.length >= waiting) throw refusal();
  };
  return {
    refuseIfFull,
    run: async (work) => {
      refuseIfFull();
      if (running < parallel) running++;
      // Whoever ends hands its place on, so that nobody who comes later takes it.
      else await new Promise<void>((resolve) => queue.push(resolve));

      try {
        return await work();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running--;
      }
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';

/**
 * A background loop: runs `work` again and again, each time `everyMs` after it has ended, and first after `firstMs`.
 * It keeps no process alive. `work` reports its failures itself.
 *
 * @returns what ends the loop, and waits for a running work; the work's signal aborts then
 */
export function repeat(work: (signal: AbortSignal) => Promise<void>, everyMs: number, firstMs = 0) {
  const stopping = new AbortController();
  const { signal } = stopping;
  const run = async () => {
    for (let waitMs = firstMs; ; waitMs = everyMs) {
      await delay(waitMs, undefined, { ref: false, signal });
      await work(signal);
    }
  };
  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });

  return {
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { type Clock, systemClock } from './clock.ts';

/** What somebody awaited did not come in time. */
export class OutOfPatience extends Error {
  override name = 'OutOfPatience';
  override message = 'the request has waited for too long';
}

/** Does for a request what may wait for `mostMs` in all, wherever that is: what waits there spends it by {@link spendPatience}. */
export function withPatience<T>(mostMs: number, work: () => T, clock: Clock = systemClock): T {
  return patience.run(createPatience(mostMs, clock), work);
}

/**
 * Waits, though no longer than the request may on whose behalf this is done; as long as it takes where there is none.
 *
 * @throws {OutOfPatience}
 */
export function spendPatience<T>(awaited: Promise<T>): Promise<T> {
  return patience.getStore()?.spend(awaited) ?? awaited;
}

const patience = new AsyncLocalStorage<ReturnType<typeof createPatience>>();

function createPatience(mostMs: number, clock: Clock) {
  let leftMs = mostMs;
  // What waits at the same time spends the same time.
  let waits = 0;
  let since = 0;
  const spentMs = () => clock.now() - since;

  return {
    async spend<T>(awaited: Promise<T>): Promise<T> {
      if (waits++ === 0) since = clock.now();
      const end = Promise.withResolvers<never>();
      const clearTimer = clock.setTimeout(() => end.reject(new OutOfPatience()), Math.max(0, leftMs - spentMs()));
      try {
        return await Promise.race([awaited, end.promise]);
      } finally {
        clearTimer();
        if (--waits === 0) leftMs -= spentMs();
      }
    },
  };
}

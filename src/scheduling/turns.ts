import { createFairQueue } from 'fair-queue';
import { callerPath } from './caller.ts';
import { systemClock } from './clock.ts';

/**
 * Spreads work of the main thread over turns of the event loop: at most `pieces` begin in so many turns, and tenants have fair shares.
 * So a request that needs little of the thread waits for one piece at each of its steps, and not for all that are ready.
 */
export function createTurns(pieces: number, turns = 1) {
  const queue = createFairQueue({ slots: pieces }, systemClock);
  /** Does the work in its turn. A piece is charged until the end of its turns, with what the work has made ready to run. */
  return async <T>(costMs: number, work: () => T): Promise<T> => {
    const permit = await queue.acquire({ path: callerPath(), costMs });
    afterTurns(turns, () => permit.release());
    return work();
  };
}

const afterTurns = (turns: number, then: () => void): unknown =>
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, then) : then()));

/**
 * Work that blocks the thread for milliseconds, such as planning: one piece, of whatever kind, in eight turns.
 * Node.js accepts one connection in a turn (libuv since 1.45), so that new clients do not wait for a piece each.
 */
export const inTurn = createTurns(1, 8);

/** Work on a body of JSON: what takes long in a turn of its own, anything else at once. */
export const inTurnIfLong = async <T>(costMs: number, work: () => T): Promise<T> =>
  costMs > maxAtOnceMs ? inTurn(costMs, work) : work();

const maxAtOnceMs = 0.5;

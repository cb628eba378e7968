import type { Clock, FairQueue, Limits } from './interface.ts';
import { Scheduler } from './Scheduler.ts';

export {
  type Clock,
  type FairQueue,
  type Limits,
  type Outcome,
  type Permit,
  type Piece,
  RefusedError,
} from './interface.ts';

/** A semaphore with hierarchical start-time fair queueing, see {@link Scheduler}. */
export function createFairQueue(limits: Limits, clock: Clock): FairQueue {
  const defaults = {
    reserve: 0,
    slotsPerTenant: Number.POSITIVE_INFINITY,
    burstMs: 0,
    maxWaiting: Number.POSITIVE_INFINITY,
    maxWaitingPerTenant: Number.POSITIVE_INFINITY,
    maxWaitingBytes: Number.POSITIVE_INFINITY,
    waitMs: Number.POSITIVE_INFINITY,
    maxIdleFlows: 10_000,
  };
  return new Scheduler({ ...defaults, ...limits }, clock);
}

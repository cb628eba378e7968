import { type Clock, systemClock } from './clock.ts';
import { burstMs, Flow } from './Flow.ts';

export type PermitLimits = {
  readonly maxHeld: number;
  /** How many permits one tenant may hold; all unless given. */
  readonly maxHeldByTenant?: number;
  /** How many more there are for tenants that hold none, whose first permit waits for no other tenant. */
  readonly reserve?: number;
  /** How many may wait; beyond, a flow may still have its share of these, and at least one. */
  readonly maxWaiting: number;
  /** How many of one tenant may wait; as many unless given. */
  readonly maxWaitingOfTenant?: number;
  /** How long one may wait, in milliseconds; unlimited unless given. */
  readonly waitMs?: number;
  readonly refusal: (cause?: unknown) => Error;
};

export type Permits = {
  /** How many wait for a permit. */
  readonly waiting: number;
  /**
   * Resolves to the function that releases the permit, at once or when it is the flow's turn.
   * It rejects with the refusal: at once if too many wait, later if the wait is too long or `signal` aborts.
   *
   * @param path of the flow, the tenant first
   */
  acquire(path: readonly string[], signal?: AbortSignal): Promise<() => void>;
  run<T>(path: readonly string[], work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Throws the refusal if too many wait for this flow to add one. */
  refuseIfFull(path: readonly string[]): void;
};

/** A semaphore with fair queueing, see {@link Flow}; within one flow first in, first out. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: all steps of the semaphore share its state, and read best side by side.
export function createPermits(
  {
    maxHeld,
    maxHeldByTenant = maxHeld,
    reserve = 0,
    maxWaiting,
    maxWaitingOfTenant = maxWaiting,
    waitMs,
    refusal,
  }: PermitLimits,
  clock: Clock = systemClock,
): Permits {
  const root = new Flow<() => void>(burstMs * maxHeld);

  const isFree = ({ tenant: { held } }: Flow<() => void>) =>
    held < maxHeldByTenant && (root.held < maxHeld || (held === 0 && root.held < maxHeld + reserve));

  const refuseIfFull = (path: readonly string[]) => {
    const flow = root.at(path);
    const { tenant } = flow;
    if (isFree(flow) || (root.waiting < maxWaiting && tenant.waiting < maxWaitingOfTenant)) return;
    const ofTenant = Math.min(maxWaitingOfTenant, maxWaiting / Math.max(1, root.waitingFlows.length));
    const ofFlow = ofTenant / Math.max(1, tenant.waitingFlows.length);
    if (flow.waiting >= Math.max(1, Math.floor(ofFlow))) throw refusal();
  };

  const hold = (flow: Flow<() => void>) => {
    const release = flow.hold(clock);
    return () => {
      release();
      // In the same event-loop tick, so that a later request cannot take the permit.
      root.next(clock.now(), isFree)?.oldest?.();
    };
  };

  const wait = (flow: Flow<() => void>, signal: AbortSignal | undefined) =>
    new Promise<() => void>((resolve, reject) => {
      const end = () => {
        flow.dequeue(begin);
        clearTimer?.();
        signal?.removeEventListener('abort', leave);
      };
      const refuse = (cause: unknown) => {
        end();
        reject(refusal(cause));
      };
      const leave = () => refuse(signal?.reason);
      const expire = () => refuse(new DOMException('The wait was too long', 'TimeoutError'));
      const begin = () => {
        resolve(hold(flow));
        end();
      };
      flow.enqueue(begin);
      const clearTimer = waitMs === undefined ? null : clock.setTimeout(expire, waitMs);
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave);
    });

  const acquire: Permits['acquire'] = async (path, signal) => {
    refuseIfFull(path);
    const flow = root.at(path);
    return isFree(flow) ? hold(flow) : wait(flow, signal);
  };
  return {
    get waiting() {
      return root.waiting;
    },
    acquire,
    refuseIfFull,
    async run(path, work, signal) {
      const release = await acquire(path, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

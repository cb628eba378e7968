import { createFairQueue, type Outcome, type Permit as QueuePermit } from 'fair-queue';
import { type Clock, systemClock } from './clock.ts';

export type AdmissionSettings = {
  /** Database connections. 1.5 times as many requests are served at once, since some compute meanwhile. */
  readonly connections: number;
  /** How many requests may wait; with more, those of flows with more than their share are refused. */
  readonly maxWaiting: number;
  /** The longest wait of a request here, in milliseconds. */
  readonly waitMs: number;
  /** Called with its tenant when the first request is refused since too many wait; with their number a second after the last one. */
  readonly onOverload: (overload: { readonly tenant?: string | undefined; readonly refused?: number }) => void;
};

export type Waiting = {
  /** The path of its flow, the tenant first. */
  readonly path: readonly string[];
  readonly hasLeft: () => boolean;
  /** Serves it; gets the time that it has waited, in milliseconds. */
  readonly begin: (permit: Permit, waitedMs: number) => void;
  readonly refuse: () => void;
};

/** A request holds it until its end, and releases it while it waits for work outside this thread. */
export type Permit = {
  pause(): void;
  /** Takes the permit back at once, without queueing; only for cases that few requests can be in. */
  resume(): void;
  /** Queues again; resolves when admitted, and never if the request is refused. */
  resumeQueued(): Promise<void>;
  end(): void;
  moveTo(path: readonly string[]): void;
};

/**
 * Load shedding by a bounded fair queue.
 *
 * While permits are free, requests are served on arrival, else in the order of the {@link createFairQueue fair queue}. The one that is one
 * too many is refused at once: the newest of the flow that has most waiting, so that a tenant within its share is served as before.
 */
export function createAdmission(settings: AdmissionSettings, clock: Clock = systemClock): (request: Waiting) => void {
  const { connections, maxWaiting } = settings;
  const slots = Math.ceil(1.5 * connections);
  // A tenant's first permit waits for no other tenant.
  const queue = createFairQueue({ slots, reserve: slots, burstMs: burstMs * slots, maxWaiting }, clock);
  const enqueue = createWaits(settings, clock);
  return (request) =>
    enqueue(
      request,
      (outcome) => queue.submit({ path: request.path, costMs: 1 }, outcome),
      (granted, waitedMs) => request.begin(permitOf(granted, request, enqueue), waitedMs),
    );
}

type Enqueue = (
  request: Omit<Waiting, 'begin'>,
  ask: (outcome: Outcome) => QueuePermit,
  begin: Outcome['begin'],
) => void;

/** Requests that wait for a permit: what refuses those that wait too long, and says when an overload begins and ends. */
function createWaits({ waitMs, onOverload }: AdmissionSettings, clock: Clock): Enqueue {
  /** Since when each waits, by what refuses it; in the order of arrival. */
  const waiting = new Map<() => void, number>();
  let refused = 0;
  let refusedAt = 0;
  let stopSweeping: (() => void) | null = null;
  const sweep = () => {
    const now = clock.now();
    for (const [expire, since] of waiting) {
      if (now - since <= waitMs) break;
      expire();
    }
    if (refused > 0 && now - refusedAt > overloadEndsMs) {
      onOverload({ refused });
      refused = 0;
    }
    if (waiting.size > 0 || refused > 0) return;
    stopSweeping?.();
    stopSweeping = null;
  };
  const noteRefusal = ([tenant]: readonly string[]) => {
    if (refused++ === 0) onOverload({ tenant });
    refusedAt = clock.now();
    stopSweeping ??= clock.setInterval(sweep, sweepMs);
  };

  return ({ path, hasLeft, refuse }, ask, begin) => {
    let isQueued = true;
    let isArriving = true;
    const leave = () => {
      isQueued = false;
      waiting.delete(expire);
    };
    const expire = () => {
      leave();
      permit.release();
      if (!hasLeft()) refuse();
    };
    const permit = ask({
      begin(granted, waitedMs) {
        leave();
        const start = () => (hasLeft() ? granted.release() : begin(granted, waitedMs));
        // Not within the call of the request that gives its permit back.
        if (isArriving) start();
        else process.nextTick(start);
      },
      refuse({ reason }) {
        leave();
        if (reason !== 'full') return;
        noteRefusal(path);
        if (!hasLeft()) refuse();
      },
    });
    isArriving = false;
    if (!isQueued) return;
    waiting.set(expire, clock.now());
    stopSweeping ??= clock.setInterval(sweep, sweepMs);
  };
}

function permitOf(granted: QueuePermit, { path: arrivedPath, refuse }: Waiting, enqueue: Enqueue): Permit {
  let path = arrivedPath;
  let pauses = 0;
  let hasEnded = false;
  const requeue = (outcome: Outcome) => {
    granted.requeue(outcome);
    return granted;
  };
  return {
    pause() {
      pauses++;
      granted.pause();
    },
    resume() {
      pauses--;
      granted.resume();
    },
    async resumeQueued() {
      if (hasEnded || pauses === 0) return;
      await new Promise<void>((start) => {
        enqueue({ path, hasLeft: () => hasEnded, refuse }, requeue, () => start());
      });
      pauses--;
    },
    end() {
      hasEnded = true;
      granted.release();
    },
    moveTo(next) {
      path = next;
      granted.move(path);
    },
  };
}

/** The burst for each permit, in milliseconds: how late another flow may get its share. */
const burstMs = 50;
const sweepMs = 100;
const overloadEndsMs = 1000;

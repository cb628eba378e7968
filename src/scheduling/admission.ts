import { type Clock, systemClock } from './clock.ts';
import { burstMs, Flow } from './Flow.ts';
import { createThreadLimit, createTickMeter } from './threadLimit.ts';

export type AdmissionSettings = {
  /** Database connections. 1.5 times as many requests are served at once, since some compute meanwhile. */
  readonly connections: number;
  /** How many requests may wait in a burst; beyond, flows with more than their share are overloaded. */
  readonly maxWaiting: number;
  /** The longest wait of a request here, in milliseconds. */
  readonly waitMs: number;
  /** Called with its tenant when an overload begins; with the refused requests when the last one ends. */
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
  /** Queues again; resolves when admitted, and never if the request waits too long and is refused. */
  resumeQueued(): Promise<void>;
  end(): void;
  moveTo(path: readonly string[]): void;
};

/**
 * Concurrency limit and load shedding: fair queueing (see {@link Flow}), CoDel, adaptive LIFO.
 *
 * While permits are free, requests are served on arrival, else in the order of their flows. Up to `maxWaiting` requests are a burst and
 * wait. Beyond, a flow that has more than its share of these is overloaded: queueing → shedding ⇄ probing → queueing. Shedding lasts 5 s:
 * the newest request is served first, and one that has waited for 5 ms is refused, so that answers and refusals both come soon. Then the
 * flow is probed: a few may wait again, since clients that retry at once would keep an overload up. It ends when none was refused for a
 * second. Other flows are served as before.
 *
 * An overloaded flow may use only as many permits as leave the thread idle moments. One of its requests is admitted at the end of an
 * event-loop tick, when everything that has arrived is read. None is admitted after a long tick, during which it has waited unread.
 *
 * K. Nichols, V. Jacobson, Controlling queue delay, ACM Queue 10(5), 2012; B. Maurer, Fail at scale, ACM Queue 13(8), 2015.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: all steps of the queue share its state, and read best side by side.
export function createAdmission(
  { connections, maxWaiting, waitMs, onOverload }: AdmissionSettings,
  clock: Clock = systemClock,
): (request: Waiting) => void {
  const maxHeld = Math.ceil(1.5 * connections);
  const root = new Flow<Queued>(burstMs * maxHeld);
  /** By flow name. */
  const overloads = new Map<string, Overload>();
  let refused = 0;
  const limit = createThreadLimit(connections, clock);
  const wasShortTick = createTickMeter(clock);
  let admittedThisTick = 0;
  let isDispatchScheduled = false;
  let stopTicking: (() => void) | undefined;

  const overloadOf = (flow: Flow<Queued>) => (overloads.size > 0 ? overloads.get(nameOf(flow)) : undefined);
  const stateOf = (flow: Flow<Queued>): State => {
    const overload = overloadOf(flow);
    if (!overload) return 'queueing';
    return clock.now() < overload.shedsUntil ? 'shedding' : 'probing';
  };
  const isShedding = (flow: Flow<Queued>) => stateOf(flow) === 'shedding';
  const room = (flow: Flow<Queued>) => (stateOf(flow) === 'queueing' ? maxHeld : limit.get()) - root.held;
  // A tenant's first permit waits for no other tenant.
  const isFree = (flow: Flow<Queued>) => room(flow) > 0 || (flow.tenant.held === 0 && root.holding <= maxHeld);

  const admit = () => {
    const wasShort = overloads.size === 0 || wasShortTick();
    const maxThisTick = overloads.size > 0 ? 1 : maxAdmitsPerTick;
    while (admittedThisTick < maxThisTick) {
      const flow = root.next(clock.now(), (leaf) => isFree(leaf) && (wasShort || !isShedding(leaf)));
      const request = flow && (isShedding(flow) ? flow.newest : flow.oldest);
      if (!request) return;
      if (request.hasLeft()) flow.dequeue(request);
      else begin(flow, request);
    }
  };

  const begin = (flow: Flow<Queued>, request: Queued) => {
    if (admittedThisTick++ === 0) {
      setImmediate(() => {
        admittedThisTick = 0;
        scheduleDispatch();
      });
    }
    const permit = hold(request);
    flow.dequeue(request);
    request.begin(permit, clock.now() - request.since);
  };

  const hold = ({ path: pathThen, refuse }: Queued): Permit => {
    let path = pathThen;
    // The flow that is at the path now, since the former one may have been removed and replaced.
    const take = () => root.at(path).hold(clock);
    let give = take();
    let pauses = 0;
    let hasEnded = false;
    const pause = () => {
      if (pauses++ > 0) return;
      give();
      // Not within the call of the request that pauses.
      if (root.waiting > 0) process.nextTick(scheduleDispatch);
    };
    const resume = () => {
      if (!hasEnded && --pauses === 0) give = take();
    };
    return {
      pause,
      resume,
      async resumeQueued() {
        if (hasEnded || pauses === 0) return;
        const permit = await new Promise<Permit>((begin) => enqueue({ path, hasLeft: () => hasEnded, begin, refuse }));
        permit.end();
        resume();
      },
      end() {
        hasEnded = true;
        pause();
      },
      moveTo(next) {
        path = next;
        if (pauses > 0) return;
        give();
        give = take();
      },
    };
  };

  const refuseExpired = () => {
    for (const flow of root.leaves()) {
      const sheds = isShedding(flow);
      for (let request = flow.oldest; request; request = flow.oldest) {
        const isOutdated = sheds && limit.get() === 1 && flow.waiting > 1;
        if (!isOutdated && clock.now() - request.since <= (sheds ? targetMs : waitMs)) break;
        refuse(flow, request);
      }
    }
  };

  const refuse = (flow: Flow<Queued>, request: Queued) => {
    flow.dequeue(request);
    const overload = overloadOf(flow);
    if (overload) {
      refused++;
      overload.endsAt = clock.now() + cooldownMs;
    }
    if (!request.hasLeft()) request.refuse();
  };

  /** Admits at once; in an overload at the end of the event-loop tick. */
  const scheduleDispatch = () => {
    if (overloads.size === 0) return admit();
    if (isDispatchScheduled) return;
    isDispatchScheduled = true;
    setImmediate(() => {
      isDispatchScheduled = false;
      admit();
      refuseExpired();
    });
  };

  const tick = () => {
    limit.adjust(root.held);
    scheduleDispatch();
    if (overloads.size === 0) refuseExpired();
    for (const [name, { endsAt }] of overloads) {
      if (clock.now() <= endsAt || !overloads.delete(name) || overloads.size > 0) continue;
      onOverload({ refused });
      refused = 0;
    }
    if (overloads.size + root.waiting > 0) return;
    stopTicking?.();
    stopTicking = undefined;
  };

  const watchQueue = (flow: Flow<Queued>) => {
    const max = stateOf(flow) === 'queueing' ? maxWaiting : Math.min(maxWaiting, maxProbing);
    // Requests that the next tick admits do not wait.
    const free = Math.max(0, room(flow));
    const hasShare = () => flow.waiting - free <= max / Math.max(1, [...root.leaves()].length);
    if (isShedding(flow) || root.waiting - free <= max || hasShare()) return;
    if (overloads.size === 0) onOverload({ tenant: flow.tenant.path[0] });
    overloads.set(nameOf(flow), { shedsUntil: clock.now() + probeMs, endsAt: clock.now() + cooldownMs });
  };

  const enqueue = (request: Waiting) => {
    const queued = { ...request, since: clock.now() };
    const flow = root.at(request.path);
    flow.enqueue(queued);
    scheduleDispatch();
    if (!flow.has(queued)) return;
    stopTicking ??= clock.setInterval(tick, tickMs);
    watchQueue(flow);
    if (flow.waiting > maxWaitingInOverload) refuse(flow, flow.oldest ?? queued);
  };
  return enqueue;
}

type Queued = Waiting & { readonly since: number };
type Overload = { readonly shedsUntil: number; endsAt: number };
type State = 'queueing' | 'shedding' | 'probing';

const nameOf = ({ path }: Flow<Queued>) => path.join(' ');

/** Admitting a whole burst in one tick would make the tick long, and an overload would be noticed late. */
const maxAdmitsPerTick = 4;
/** CoDel's target delay. */
const targetMs = 5;
const probeMs = 5000;
/** How many may wait while a flow is probed for the end of its overload. */
const maxProbing = 64;
const cooldownMs = 1000;
/** Each waiting request holds a socket whose body is unread. */
const maxWaitingInOverload = 2000;
const tickMs = 5;

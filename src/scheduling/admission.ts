import { type Clock, systemClock } from '../clock.ts';
import { Flow } from './Flow.ts';
import { createThreadLimit, createTurnMeter } from './threadLimit.ts';

export type AdmissionSettings = {
  /** To the database: so many requests are served at once, and half as many that compute before or after they have one. */
  readonly connections: number;
  /** How many requests may wait; when there are more, those flows are overloaded that have more than their share of these. */
  readonly maxWaiting: number;
  /** How long a request waits here at most, in milliseconds. */
  readonly waitMs: number;
  /** Hears when an overload begins, and of which tenant; and when the last one ends how many requests were refused. */
  readonly onOverload: (overload: { readonly tenant?: string | undefined; readonly refused?: number }) => void;
};

/** What waits to be served. */
export type Waiting = {
  /** Of its flow, the tenant first. */
  readonly path: readonly string[];
  readonly hasLeft: () => boolean;
  /** Serves it; with how long it has waited, in milliseconds. */
  readonly begin: (permit: Permit, waitedMs: number) => void;
  readonly refuse: () => void;
};

/** What a request holds until its end. It pauses while it waits for what is not of this thread: then others are served. */
export type Permit = {
  pause(): void;
  /** At once: to be called where those that may are few. */
  resume(): void;
  /** Resolves when it is the request's turn again. One that waits for too long is refused, and then this is never settled. */
  resumeInTurn(): Promise<void>;
  end(): void;
  moveTo(path: readonly string[]): void;
};

/**
 * Load shedding with fair queueing (see {@link Flow}), controlled delay and adaptive LIFO.
 *
 * Requests are served as they come while permits are free, and then in the order of their flows. When more than `maxWaiting` wait, a
 * flow that has more than its share of these is overloaded. From then on its newest request is served first, and one that has waited
 * for 5 ms is refused: those that are served are served soon, and the others know soon. Every 5 s the service tries whether the
 * flow's requests can be served if they wait, since clients that retry at once would keep an overload up. It ends when none was
 * refused for a second. Other flows are served as before.
 *
 * Of an overloaded flow only as many requests are served at once as leave the thread idle moments. One begins at the end of a turn of
 * the event loop, when all that has come is read; and none after a long turn, in which it was not new.
 *
 * K. Nichols, V. Jacobson, Controlling queue delay, ACM Queue 10(5), 2012; B. Maurer, Fail at scale, ACM Queue 13(8), 2015.
 */
export function createAdmission(
  { connections, maxWaiting, waitMs, onOverload }: AdmissionSettings,
  clock: Clock = systemClock,
): (request: Waiting) => void {
  const root = new Flow<Queued>();
  /** By the names of their flows. */
  const overloads = new Map<string, Overload>();
  let refused = 0;
  const limit = createThreadLimit(connections, clock);
  const wasShortTurn = createTurnMeter(clock);
  const maxHeld = Math.ceil(1.5 * connections);
  let begunInTurn = 0;
  let isTurnEnding = false;
  let stopTicking: (() => void) | undefined;

  const overloadOf = (flow: Flow<Queued>) => (overloads.size > 0 ? overloads.get(nameOf(flow)) : undefined);
  const isShedding = (flow: Flow<Queued>) => clock.now() < (overloadOf(flow)?.shedsUntil ?? 0);
  const room = (flow: Flow<Queued>) => (overloadOf(flow) ? limit.get() : maxHeld) - root.held;
  // A tenant that holds none waits for no other one.
  const isFree = (flow: Flow<Queued>) => room(flow) > 0 || (flow.tenant.held === 0 && root.holding <= maxHeld);

  const admit = () => {
    const isShort = overloads.size === 0 || wasShortTurn();
    const maxInTurn = overloads.size > 0 ? 1 : maxPerTurn;
    while (begunInTurn < maxInTurn) {
      const flow = root.next((leaf) => isFree(leaf) && (isShort || !isShedding(leaf)));
      const request = flow && (isShedding(flow) ? flow.newest : flow.oldest);
      if (!request) return;
      if (request.hasLeft()) flow.dequeue(request);
      else begin(flow, request);
    }
  };

  const begin = (flow: Flow<Queued>, request: Queued) => {
    if (begunInTurn++ === 0) {
      setImmediate(() => {
        begunInTurn = 0;
        admitSoon();
      });
    }
    const permit = hold(request);
    flow.dequeue(request);
    request.begin(permit, clock.now() - request.since);
  };

  const hold = ({ path: pathThen, refuse }: Queued): Permit => {
    let path = pathThen;
    // Of the flow that is at the path now: the one that it had may be gone, and another one in its place.
    const take = () => root.at(path).hold(clock);
    let give = take();
    let pauses = 0;
    let hasEnded = false;
    const pause = () => {
      if (pauses++ > 0) return;
      give();
      // Not from within what is answering.
      process.nextTick(admitSoon);
    };
    const resume = () => {
      if (!hasEnded && --pauses === 0) give = take();
    };
    return {
      pause,
      resume,
      async resumeInTurn() {
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

  const refuseLate = () => {
    for (const flow of root.leaves()) {
      const sheds = isShedding(flow);
      for (const request of flow.queue) {
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
      overload.endsAt = clock.now() + calmMs;
    }
    if (!request.hasLeft()) request.refuse();
  };

  /** In an overload at the end of the event loop's turn. */
  const admitSoon = () => {
    if (overloads.size === 0) return admit();
    if (isTurnEnding) return;
    isTurnEnding = true;
    setImmediate(() => {
      isTurnEnding = false;
      admit();
      refuseLate();
    });
  };

  const tick = () => {
    limit.adjust(root.held);
    admitSoon();
    if (overloads.size === 0) refuseLate();
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
    const max = overloadOf(flow) ? Math.min(maxWaiting, maxProbing) : maxWaiting;
    // What begins with the next turn does not wait.
    const free = Math.max(0, room(flow));
    const hasShare = () => flow.waiting - free <= max / Math.max(1, [...root.leaves()].length);
    if (isShedding(flow) || root.waiting - free <= max || hasShare()) return;
    if (overloads.size === 0) onOverload({ tenant: flow.tenant.path[0] });
    overloads.set(nameOf(flow), { shedsUntil: clock.now() + probeMs, endsAt: clock.now() + calmMs });
  };

  const enqueue = (request: Waiting) => {
    const queued = { ...request, since: clock.now() };
    const flow = root.at(request.path);
    flow.enqueue(queued);
    admitSoon();
    if (!flow.queue.has(queued)) return;
    stopTicking ??= clock.setInterval(tick, tickMs);
    watchQueue(flow);
    if (flow.waiting > maxWaitingInOverload) refuse(flow, flow.oldest ?? queued);
  };
  return enqueue;
}

type Queued = Waiting & { readonly since: number };
type Overload = { readonly shedsUntil: number; endsAt: number };

const nameOf = ({ path }: Flow<Queued>) => path.join(' ');

/** Were all of a burst begun in one turn of the event loop, the overload would be seen late. */
const maxPerTurn = 4;
/** CoDel's target. */
const targetMs = 5;
const probeMs = 5000;
/** How many may wait while the service tries whether an overload is over. */
const maxProbing = 64;
const calmMs = 1000;
/** Each holds a socket whose request is unread. */
const maxWaitingInOverload = 2000;
const tickMs = 5;

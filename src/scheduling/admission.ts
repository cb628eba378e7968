import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { createFairQueue, type FairQueue, type Outcome, type Permit as QueuePermit } from 'fair-queue';
import { type Clock, systemClock } from './clock.ts';

type AdmissionSettings = {
  /** Database connections. More requests than these are served at once, since some compute meanwhile. */
  readonly connections: number;
  /** How many requests may wait in a burst; beyond, flows with more than their share are overloaded. */
  readonly maxWaiting: number;
  /** The longest wait of a request here, in milliseconds. */
  readonly waitMs: number;
  /** Called with its tenant when an overload begins; with the refused requests when the last one ends. */
  readonly onOverload: (overload: { readonly tenant?: string | undefined; readonly refused?: number }) => void;
};

type Waiting = {
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
 * Load shedding in front of a fair queue: CoDel and adaptive LIFO for each flow that overloads it.
 *
 * While permits are free, requests are served on arrival, else in the order of the {@link createFairQueue fair queue}. Up to `maxWaiting`
 * requests are a burst and wait. With more, a flow that has more than its share of them is overloaded. Its requests wait outside the queue,
 * and enter it one by one: queueing → shedding ⇄ probing → queueing. Shedding lasts 5 s: the newest request is served first, and one that
 * has waited for 5 ms is refused, so that answers and refusals both come soon. Then the flow is probed: a few requests may wait in order,
 * since clients that retry at once would prolong the overload. The overload ends when no request was refused for a second. Other flows are
 * served as before.
 *
 * Overloaded flows may use only as many permits as leave the thread idle moments. One of their requests is admitted at the end of an
 * event-loop tick, when everything that has arrived is read. None is admitted after a long tick, during which it has waited unread.
 *
 * K. Nichols, V. Jacobson, Controlling queue delay, ACM Queue 10(5), 2012; B. Maurer, Fail at scale, ACM Queue 13(8), 2015.
 */
export function createAdmission(settings: AdmissionSettings, clock: Clock = systemClock): (request: Waiting) => void {
  const admission = new Admission(settings, clock);
  return (request) => admission.admit(request);
}

class Admission {
  readonly #settings: AdmissionSettings;
  readonly #clock: Clock;
  readonly #queue: FairQueue;
  readonly #limit: ThreadLimit;
  readonly #wasShortTick: () => boolean;
  /** Flows with waiting requests or an overload, by their names. */
  readonly #flows = new Map<string, WaitingFlow>();
  /** Those with an overload, the one that is served next first. */
  readonly #overloaded: WaitingFlow[] = [];
  /** How many requests wait, in the queue or outside it. */
  #waiting = 0;
  #refused = 0;
  /** Begins of requests that have their permits, for this tick and the next ones. */
  readonly #ready: (() => void)[] = [];
  #begunThisTick = 0;
  #isServing = false;
  #stopTicking: (() => void) | undefined;

  constructor(settings: AdmissionSettings, clock: Clock) {
    const slots = Math.ceil(1.5 * settings.connections);
    this.#settings = settings;
    this.#clock = clock;
    // A tenant's first permit waits for no other tenant.
    this.#queue = createFairQueue({ slots, reserve: slots, burstMs: burstMs * slots }, clock);
    this.#limit = createThreadLimit(settings.connections, clock);
    this.#wasShortTick = createTickMeter(clock);
  }

  admit({ path, hasLeft, begin, refuse }: Waiting): void {
    const ask = (outcome: Outcome) => this.#queue.submit({ path, costMs: 1 }, outcome);
    const start = (permit: QueuePermit, waitedMs: number) => begin(this.#permitOf(permit, path, refuse), waitedMs);
    this.#arrive({ path, hasLeft, ask, start, refuse });
  }

  #permitOf(permit: QueuePermit, pathThen: readonly string[], refuse: () => void): Permit {
    let path = pathThen;
    let pauses = 0;
    let queued: WaitingRequest | null = null;
    let hasEnded = false;
    const requeue = (outcome: Outcome) => {
      permit.requeue(outcome);
      return permit;
    };
    return {
      pause: () => {
        pauses++;
        permit.pause();
        this.#serveSoon();
      },
      resume() {
        pauses--;
        permit.resume();
      },
      resumeQueued: async () => {
        if (hasEnded || pauses === 0) return;
        await new Promise<void>((start) => {
          queued = this.#arrive({ path, hasLeft: () => hasEnded, ask: requeue, start: () => start(), refuse });
        });
        pauses--;
      },
      end: () => {
        hasEnded = true;
        if (queued) this.#leave(queued);
        permit.release();
        this.#serveSoon();
      },
      moveTo(next) {
        path = next;
        permit.move(path);
      },
    };
  }

  #arrive(arriving: Omit<WaitingRequest, 'since' | 'flow' | 'permit' | 'hasBegun'>): WaitingRequest {
    const request = { ...arriving, since: this.#clock.now(), flow: null, permit: null, hasBegun: false };
    const flow = this.#flows.size > 0 ? this.#flows.get(flowName(arriving.path)) : undefined;
    if (!flow?.isOverloaded) this.#ask(request);
    // Asking may have begun it.
    if (!request.hasBegun) this.#wait(request, flow ?? new WaitingFlow(arriving.path));
    return request;
  }

  /** Asks for a permit, which it may have at once. */
  #ask(request: WaitingRequest): void {
    const begin = (permit: QueuePermit) => {
      const isArriving = request.flow === null;
      request.hasBegun = true;
      this.#leave(request);
      this.#ready.push(() => {
        if (request.hasLeft()) permit.release();
        else request.start(permit, this.#clock.now() - request.since);
      });
      // Not within the call of the request that gives its permit back.
      if (isArriving) this.#beginReady();
      else process.nextTick(() => this.#beginReady());
    };
    // Admission refuses; the queue must not.
    request.permit = request.ask({ begin, refuse: () => undefined });
  }

  #beginReady(): void {
    while (this.#begunThisTick < maxBegunPerTick) {
      const begin = this.#ready.shift();
      if (!begin) return;
      if (this.#begunThisTick++ === 0) {
        setImmediate(() => {
          this.#begunThisTick = 0;
          this.#beginReady();
        });
      }
      begin();
    }
  }

  #wait(request: WaitingRequest, flow: WaitingFlow): void {
    flow.add(request);
    this.#waiting++;
    this.#flows.set(flowName(flow.path), flow);
    this.#stopTicking ??= this.#clock.setInterval(() => this.#tick(), tickMs);
    this.#watch(flow);
    this.#serveSoon();
    if (flow.waiting > maxWaitingInOverload) this.#refuse(flow.oldest ?? request, flow);
  }

  #leave(request: WaitingRequest): void {
    if (request.flow?.remove(request)) this.#waiting--;
  }

  #refuse(request: WaitingRequest, flow: WaitingFlow): void {
    this.#leave(request);
    request.permit?.release();
    if (flow.isOverloaded) this.#refused++;
    flow.noteRefusal(this.#clock.now());
    if (!request.hasLeft()) request.refuse();
  }

  /** Begins an overload of a flow of which too many wait. */
  #watch(flow: WaitingFlow): void {
    const { maxWaiting, onOverload } = this.#settings;
    const now = this.#clock.now();
    if (flow.isShedding(now)) return;
    const max = flow.isOverloaded ? Math.min(maxWaiting, maxProbing) : maxWaiting;
    // Requests that the next ticks put into the queue do not wait.
    const free = flow.isOverloaded ? Math.max(0, this.#limit.get() - this.#queue.held) : 0;
    if (this.#waiting - free <= max) return;
    const sharing = [...this.#flows.values()].filter(({ waiting }) => waiting > 0).length;
    if (flow.waiting - free <= max / sharing) return;
    if (this.#overloaded.length === 0) onOverload({ tenant: flow.path[0] });
    if (!flow.isOverloaded) this.#overloaded.push(flow);
    flow.shed(now);
  }

  #endOverload(flow: WaitingFlow): void {
    flow.isOverloaded = false;
    this.#overloaded.splice(this.#overloaded.indexOf(flow), 1);
    for (const request of flow.outsideQueue) this.#ask(request);
    if (this.#overloaded.length > 0) return;
    this.#settings.onOverload({ refused: this.#refused });
    this.#refused = 0;
  }

  /** Serves overloaded flows at the end of the event-loop tick. */
  #serveSoon(): void {
    if (this.#isServing || this.#overloaded.length === 0) return;
    this.#isServing = true;
    setImmediate(() => {
      this.#isServing = false;
      if (this.#serveOverloaded()) this.#serveSoon();
      for (const flow of this.#overloaded) this.#refuseExpired(flow);
    });
  }

  /** Puts one request into the queue. @returns whether there was one */
  #serveOverloaded(): boolean {
    const now = this.#clock.now();
    const wasShort = this.#wasShortTick();
    const hasPermit = this.#queue.held < this.#limit.get();
    for (const [index, flow] of this.#overloaded.entries()) {
      if (flow.isShedding(now) && !wasShort) continue;
      if (!hasPermit && this.#queue.heldBy(flow.path[0] ?? '') > 0) continue;
      const request = flow.next(now);
      if (!request) continue;
      this.#overloaded.push(...this.#overloaded.splice(index, 1));
      this.#ask(request);
      return true;
    }
    return false;
  }

  #refuseExpired(flow: WaitingFlow): void {
    const now = this.#clock.now();
    const isShedding = flow.isShedding(now);
    const maxMs = isShedding ? targetMs : this.#settings.waitMs;
    for (let { oldest } = flow; oldest; { oldest } = flow) {
      const isOutdated = isShedding && this.#limit.get() === 1 && flow.waiting > 1;
      if (!isOutdated && now - oldest.since <= maxMs) return;
      this.#refuse(oldest, flow);
    }
  }

  #tick(): void {
    const now = this.#clock.now();
    this.#limit.adjust(this.#queue.held);
    for (const [name, flow] of this.#flows) {
      this.#refuseExpired(flow);
      if (flow.isOver(now)) this.#endOverload(flow);
      if (!flow.isOverloaded && flow.waiting === 0) this.#flows.delete(name);
    }
    this.#serveSoon();
    if (this.#flows.size > 0) return;
    this.#stopTicking?.();
    this.#stopTicking = undefined;
  }
}

const flowName = (path: readonly string[]) => path.join(' ');

/** The burst for each permit, in milliseconds: how late another flow may get its share. */
const burstMs = 50;
/** A new connection waits a tick for each one before it. A long tick would also hide that an overload begins. */
const maxBegunPerTick = 2;
/** CoDel's target delay. */
const targetMs = 5;
/** How many may wait while a flow is probed for the end of its overload. */
const maxProbing = 64;
/** Each waiting request holds a socket whose body is unread. */
const maxWaitingInOverload = 2000;
const tickMs = 5;

/** A request that waits, in the fair queue or outside it. */
type WaitingRequest = {
  readonly path: readonly string[];
  readonly since: number;
  readonly hasLeft: () => boolean;
  /** Asks for its permit. */
  readonly ask: (outcome: Outcome) => QueuePermit;
  readonly start: (permit: QueuePermit, waitedMs: number) => void;
  readonly refuse: () => void;
  /** Where it waits. */
  flow: WaitingFlow | null;
  /** What it has asked for; null while it waits outside the fair queue. */
  permit: QueuePermit | null;
  hasBegun: boolean;
};

/** The requests of a flow that wait, and its overload. */
class WaitingFlow {
  readonly path: readonly string[];
  /** In the order of arrival. */
  readonly #requests: WaitingRequest[] = [];
  #shedsUntil = Number.NEGATIVE_INFINITY;
  #endsAt = Number.NEGATIVE_INFINITY;
  isOverloaded = false;

  constructor(path: readonly string[]) {
    this.path = path;
  }

  get waiting(): number {
    return this.#requests.length;
  }

  get oldest(): WaitingRequest | undefined {
    return this.#requests[0];
  }

  add(request: WaitingRequest): void {
    request.flow = this;
    this.#requests.push(request);
  }

  /** @returns whether it was there */
  remove(request: WaitingRequest): boolean {
    // Most leave at one of the ends.
    const index = this.oldest === request ? 0 : this.#requests.lastIndexOf(request);
    if (index >= 0) this.#requests.splice(index, 1);
    return index >= 0;
  }

  /** Those that wait outside the fair queue, in the order of arrival. */
  get outsideQueue(): WaitingRequest[] {
    return this.#requests.filter(({ permit }) => permit === null);
  }

  /** The next one that is put into the queue: the newest while the flow sheds load, else the oldest. */
  next(now: number): WaitingRequest | undefined {
    const isOutside = ({ permit }: WaitingRequest) => permit === null;
    return this.isShedding(now) ? this.#requests.findLast(isOutside) : this.#requests.find(isOutside);
  }

  isShedding(now: number): boolean {
    return this.isOverloaded && now < this.#shedsUntil;
  }

  shed(now: number): void {
    this.isOverloaded = true;
    this.#shedsUntil = now + probeMs;
    this.#endsAt = now + cooldownMs;
  }

  /** A refusal prolongs the overload. */
  noteRefusal(now: number): void {
    this.#endsAt = now + cooldownMs;
  }

  isOver(now: number): boolean {
    return this.isOverloaded && now > this.#endsAt;
  }
}

const probeMs = 5000;
const cooldownMs = 1000;

interface ThreadLimit {
  get(): number;
  /** @param held how many requests are served now */
  adjust(held: number): void;
}

/**
 * Adaptive concurrency limit by event-loop utilization: as many requests as keep the thread busy.
 * Adjust it every few milliseconds. It changes by one, from 1 to `max`, and shrinks while the thread is never idle, since more would only
 * wait.
 */
export function createThreadLimit(max: number, clock: Clock): ThreadLimit {
  const used = createUtilizationMeter(clock);
  let limit = 1;
  return {
    get: () => limit,
    adjust(held) {
      const { utilization } = used();
      if (utilization > 0.85) limit = Math.max(1, Math.min(limit, held) - 1);
      else if (utilization < 0.6) limit = Math.min(max, limit + 1);
    },
  };
}

/**
 * Whether an event-loop tick was so short that requests hardly waited in their sockets meanwhile.
 * Call it at the end of each tick. When all ticks are long, one in 50 ms counts as short, so that some requests are served.
 */
export function createTickMeter(clock: Clock): () => boolean {
  const used = createUtilizationMeter(clock);
  let shortAt = clock.now();
  return () => {
    if (used().active > shortTickMs && clock.now() - shortAt < maxLongTicksMs) return false;
    shortAt = clock.now();
    return true;
  };
}

const shortTickMs = 2;
const maxLongTicksMs = 50;

/** The event loop's utilization since the last call. */
function createUtilizationMeter(clock: Clock): () => EventLoopUtilization {
  let before = clock.eventLoopUtilization();
  return () => {
    const now = clock.eventLoopUtilization();
    const used = performance.eventLoopUtilization(now, before);
    before = now;
    return used;
  };
}

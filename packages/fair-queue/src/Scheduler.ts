import { Flow, type FlowTest } from './Flow.ts';
import { FlowTree } from './FlowTree.ts';
import {
  type Clock,
  type FairQueue,
  type Limits,
  type Outcome,
  type Permit,
  type Piece,
  RefusedError,
} from './interface.ts';
import { mayWait, nextToDrop } from './shares.ts';
import { type Owner, Ticket } from './Ticket.ts';

/**
 * A semaphore with hierarchical start-time fair queueing, see {@link Flow}; within one flow first in, first out.
 *
 * A permit that becomes free goes to the flow with the least start tag. So tenants have equal shares of what the permits protect, measured
 * by cost and not by pieces. The cost of a piece is estimated before. Use beyond the estimate is charged before each decision,
 * and the difference when the permit is given back. Waiting pieces are bounded. A piece of a flow that is below its share
 * displaces the newest pieces of the flow that has most.
 *
 * P. Goyal, H. M. Vin, H. Cheng, Start-time fair queueing, SIGCOMM 1996. For several permits: W. Jin, J. S. Chase, J. Kaur, Interposed
 * proportional sharing for a storage service utility, SIGMETRICS 2004. For the hierarchy: J. C. R. Bennett, H. Zhang, Hierarchical packet
 * fair queueing algorithms, SIGCOMM 1996. For the bound: B. Suter, T. V. Lakshman, D. Stiliadis, A. K. Choudhury, Design considerations
 * for supporting TCP with per-flow queueing, INFOCOM 1998.
 */
export class Scheduler implements FairQueue, Owner {
  readonly #clock: Clock;
  readonly #limits: Required<Limits>;
  readonly #flows: FlowTree<Ticket>;
  readonly #holders: Ticket[] = [];
  /** How many of the held permits are of the reserve. */
  #reserved = 0;
  #arrivals = 0;
  #isDispatching = false;

  constructor(limits: Required<Limits>, clock: Clock) {
    this.#clock = clock;
    this.#limits = limits;
    this.#flows = new FlowTree(limits.maxIdleFlows);
  }

  get waiting(): number {
    return this.#flows.root.waiting;
  }

  get waitingBytes(): number {
    return this.#flows.root.waitingBytes;
  }

  get held(): number {
    return this.#holders.length;
  }

  heldBy(tenant: string): number {
    return this.#flows.root.children.get(tenant)?.held ?? 0;
  }

  submit(piece: Piece, outcome: Outcome): Permit {
    const ticket = this.#createTicket(piece, outcome);
    this.#arrive(ticket);
    return ticket;
  }

  acquire(piece: Piece): Promise<Permit> {
    return new Promise((begin, refuse) => this.#arrive(this.#createTicket(piece, { begin, refuse })));
  }

  async run<T>(piece: Piece, work: () => Promise<T>): Promise<T> {
    const permit = await this.acquire(piece);
    try {
      return await work();
    } finally {
      permit.release();
    }
  }

  isFull(path: readonly string[], bytes = 0): boolean {
    return !this.#startsAtOnce(path) && !mayWait(this.#flows.root, path, bytes, this.#limits);
  }

  /** See {@link Permit}, as the methods below. */
  release(ticket: Ticket): void {
    const { state, outcome } = ticket;
    if (state === 'ended') return;
    if (state === 'waiting') this.#leave(ticket);
    if (state === 'held') this.#giveBack(ticket);
    this.#end(ticket);
    if (state === 'waiting' && ticket.hasBegun) outcome.refuse(new RefusedError('cancelled'));
    if (state === 'held') this.#dispatch();
  }

  pause(ticket: Ticket): void {
    if (ticket.state === 'ended') return;
    ticket.pauses++;
    if (ticket.state !== 'held') return;
    this.#giveBack(ticket);
    ticket.state = 'paused';
    this.#dispatch();
  }

  resume(ticket: Ticket): void {
    const least = ticket.state === 'waiting' ? 2 : 1;
    if (ticket.state === 'ended' || ticket.pauses < least) return;
    ticket.pauses--;
    if (ticket.pauses > 0) return;
    this.#take(ticket, false);
    ticket.state = 'held';
  }

  requeue(ticket: Ticket, outcome: Outcome): void {
    if (ticket.state !== 'paused') return;
    ticket.outcome = outcome;
    // Another pause goes on.
    if (ticket.pauses > 1) {
      ticket.pauses--;
      outcome.begin(ticket, 0);
    } else this.#arrive(ticket);
  }

  move(ticket: Ticket, path: readonly string[]): void {
    const { state, flow } = ticket;
    if (state === 'ended') return;
    const next = this.#flows.use(path);
    if (state === 'waiting') this.#leave(ticket);
    if (state === 'held') this.#giveBack(ticket);
    this.#flows.release(flow);
    ticket.flow = next;
    ticket.path = path;
    if (state === 'waiting') this.#queue(ticket);
    if (state === 'held') this.#take(ticket, ticket.isReserved);
    this.#dispatch();
  }

  #createTicket(piece: Piece, outcome: Outcome): Ticket {
    const { costMs, bytes = 0 } = piece;
    if (!(costMs > 0 && costMs < Number.POSITIVE_INFINITY)) throw new RangeError('The cost of a piece must be above 0');
    if (!(bytes >= 0 && bytes < Number.POSITIVE_INFINITY))
      throw new RangeError('The bytes of a piece must be 0 or more');
    return new Ticket(this, piece, this.#flows.use(piece.path), outcome);
  }

  #arrive(ticket: Ticket): void {
    ticket.order = this.#arrivals++;
    ticket.since = this.#clock.now();
    ticket.deadline = ticket.since + (ticket.piece.waitMs ?? this.#limits.waitMs);
    this.#queue(ticket);
  }

  #queue(ticket: Ticket): void {
    ticket.state = 'waiting';
    const { signal } = ticket.piece;
    if (signal?.aborted) this.#refuse(ticket, new RefusedError('aborted', signal.reason));
    else if (!this.#startsAtOnce(ticket.path) && !this.#makeRoom(ticket))
      this.#refuse(ticket, new RefusedError('full'));
    else {
      ticket.flow.enqueue(ticket);
      this.#dispatch();
      // Unless it has begun and been queued again meanwhile.
      if (ticket.state === 'waiting' && !ticket.stopWatching) this.#watch(ticket);
    }
  }

  /** Begins the pieces for which permits are free. A piece that begins may lead here again; then the outer call continues. */
  #dispatch(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    try {
      for (let ticket = this.#next(); ticket; ticket = this.#next()) this.#begin(ticket);
    } finally {
      this.#isDispatching = false;
    }
  }

  #next(): Ticket | null {
    while (this.waiting > 0 && (this.#hasSlot || this.#reserved < this.#limits.reserve)) {
      const now = this.#clock.now();
      for (const holder of this.#holders) holder.chargeOverrun(now);
      const ticket = this.#flows.root.next(this.#limits.burstMs, this.#isBelowCap, this.#mayStart)?.oldest;
      if (!ticket || now <= ticket.deadline) return ticket ?? null;
      this.#expire(ticket);
    }
    return null;
  }

  #begin(ticket: Ticket): void {
    ticket.pauses--;
    ticket.flow.serve();
    // A piece that was paused while it waited takes its permit when it resumes.
    if (ticket.pauses === 0) this.#take(ticket, !this.#hasSlot);
    this.#leave(ticket);
    ticket.state = ticket.pauses === 0 ? 'held' : 'paused';
    ticket.hasBegun = true;
    ticket.outcome.begin(ticket, this.#clock.now() - ticket.since);
  }

  get #hasSlot(): boolean {
    return this.#holders.length - this.#reserved < this.#limits.slots;
  }

  readonly #isBelowCap: FlowTest<Ticket> = ({ held }) => held < this.#limits.slotsPerTenant;

  readonly #mayStart: FlowTest<Ticket> = (tenant) =>
    this.#isBelowCap(tenant) && (this.#hasSlot || (tenant.held === 0 && this.#reserved < this.#limits.reserve));

  /** If a permit is free for a tenant, no piece waits that could have it, unless pieces are just being begun. */
  #startsAtOnce([key = '']: readonly string[]): boolean {
    const { root } = this.#flows;
    return !this.#isDispatching && this.#mayStart(root.children.get(key) ?? noFlow);
  }

  #take(ticket: Ticket, isReserved: boolean): void {
    ticket.hold(this.#clock.now());
    ticket.isReserved = isReserved;
    if (isReserved) this.#reserved++;
    ticket.place = this.#holders.push(ticket) - 1;
  }

  #giveBack(ticket: Ticket): void {
    const { tenant } = ticket.flow;
    const wasBelowCap = this.#isBelowCap(tenant);
    ticket.giveBack(this.#clock.now());
    if (ticket.isReserved) this.#reserved--;
    const last = this.#holders.pop();
    if (last && last !== ticket) {
      this.#holders[ticket.place] = last;
      last.place = ticket.place;
    }
    // While its tenant may hold no more, a flow rests.
    if (!wasBelowCap && this.#isBelowCap(tenant)) tenant.return();
  }

  /** Refuses the newest pieces of flows that have more than their share, until this one may wait. */
  #makeRoom({ path, bytes }: Ticket): boolean {
    const { root } = this.#flows;
    // Asked each time, since a piece that is refused may submit another one.
    while (mayWait(root, path, bytes, this.#limits)) {
      const dropped = nextToDrop(root, path, bytes, this.#limits);
      if (!dropped) return true;
      this.#leave(dropped);
      this.#refuse(dropped, new RefusedError('full'));
    }
    return false;
  }

  #watch(ticket: Ticket): void {
    const { deadline, piece } = ticket;
    if (deadline === Number.POSITIVE_INFINITY && !piece.signal) return;
    const abort = () => {
      this.#leave(ticket);
      this.#refuse(ticket, new RefusedError('aborted', piece.signal?.reason));
    };
    const hasDeadline = deadline < Number.POSITIVE_INFINITY;
    const delayMs = deadline - this.#clock.now();
    const clearTimer = hasDeadline ? this.#clock.setTimeout(() => this.#expire(ticket), delayMs) : null;
    piece.signal?.addEventListener('abort', abort);
    ticket.stopWatching = () => {
      clearTimer?.();
      piece.signal?.removeEventListener('abort', abort);
    };
  }

  #expire(ticket: Ticket): void {
    this.#leave(ticket);
    this.#refuse(ticket, new RefusedError('deadline'));
  }

  #leave(ticket: Ticket): void {
    ticket.flow.dequeue(ticket);
    ticket.stopWatching?.();
    ticket.stopWatching = null;
  }

  #refuse(ticket: Ticket, error: RefusedError): void {
    if (ticket.hasBegun) ticket.state = 'paused';
    else this.#end(ticket);
    ticket.outcome.refuse(error);
  }

  #end(ticket: Ticket): void {
    ticket.state = 'ended';
    this.#flows.release(ticket.flow);
  }
}

const noFlow = new Flow<Ticket>('', null, true);

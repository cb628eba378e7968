import type { Limits } from '../../src/index.ts';
import { type Largest, longestWait, observe } from './longestWait.ts';
import { type Fact, Model } from './Model.ts';
import { isLargest, mayWait } from './modelShares.ts';

type Checks = { readonly checksOrder: boolean; readonly checksWaits: boolean };

export type Ending = 'served' | 'refused' | 'cancelled';

/**
 * Judges what a scheduler does, decision by decision, by a model of its own: lists that are searched as a whole.
 * It shares no code with the scheduler. It throws at the first fault.
 */
export class Judge {
  readonly model: Model;
  readonly endings = new Map<number, Ending>();
  /** The longest wait, as a part of the longest that the formula allows. */
  longestShare = 0;
  checkedWaits = 0;
  readonly #largest: Largest = { costMs: 0, chargeMs: 0, overestimateMs: 0, factor: 1 };
  readonly #checks: Checks;
  readonly #now: () => number;
  #arriving: { fact: Fact; startsAtOnce: boolean; mayWait: boolean; dropped: number } | null = null;
  #orders = 0;

  constructor(limits: Limits, checks: Checks, now: () => number) {
    this.#now = now;
    this.model = new Model(limits, now);
    this.#checks = checks;
  }

  create(id: number, path: readonly string[], facts: Pick<Fact, 'costMs' | 'bytes' | 'waitMs' | 'actualMs'>): Fact {
    const { costMs, actualMs } = facts;
    const largest = this.#largest;
    largest.costMs = Math.max(largest.costMs, actualMs);
    largest.chargeMs = Math.max(largest.chargeMs, actualMs, costMs);
    largest.overestimateMs = Math.max(largest.overestimateMs, costMs - actualMs);
    largest.factor = Math.max(largest.factor, actualMs / costMs);
    return {
      ...{ id, ...facts, nodes: this.model.tree.use(path), state: 'new', order: 0, since: 0, deadline: 0, pauses: 1 },
      ...{ hasBegun: false, isReserved: false, chargedMs: 0, heldSince: 0, observed: null },
    };
  }

  /** Before a piece is submitted or queues again. */
  arrives(fact: Fact): void {
    const now = this.#now();
    fact.order = this.#orders++;
    fact.since = now;
    fact.deadline = now + (fact.waitMs ?? this.model.limits.waitMs);
    this.joins(fact);
  }

  /** The same of a piece that has moved to another flow while it waits. */
  joins(fact: Fact): void {
    const [tenant] = fact.nodes;
    const startsAtOnce = tenant !== undefined && this.model.mayStart(tenant);
    this.#arriving = { fact, startsAtOnce, mayWait: mayWait(this.model, fact), dropped: 0 };
    if (this.#checks.checksWaits && !startsAtOnce) fact.observed = observe(this.model, fact);
  }

  /** A piece gives its permit back, or takes it again without a wait. */
  pauses(fact: Fact): void {
    this.givesBack(fact);
    fact.pauses++;
  }

  resumes(fact: Fact): void {
    fact.pauses--;
    this.model.take(fact, false);
  }

  begins(fact: Fact, waitedMs: number): void {
    const now = this.#now();
    this.#enqueueArriving();
    must(fact.state === 'waiting', `${fact.id} begins, but is ${fact.state}`);
    must(now <= fact.deadline, `${fact.id} begins after its deadline`);
    must(waitedMs === now - fact.since, `${fact.id} has waited ${now - fact.since} and not ${waitedMs}`);
    const chosen = this.model.decide();
    must(chosen === fact || !this.#checks.checksOrder, `${fact.id} begins, and not ${chosen?.id}`);
    if (fact.observed) this.#checkWait(fact);
    fact.pauses--;
    if (fact.pauses === 0) this.model.take(fact, this.model.regular() >= this.model.limits.slots);
    this.model.leave(fact);
    fact.state = fact.pauses === 0 ? 'held' : 'paused';
    fact.hasBegun = true;
  }

  refused(fact: Fact, reason: string): void {
    if (reason === 'full') this.#checkDrop(fact);
    else if (reason === 'deadline') must(this.#now() >= fact.deadline, `${fact.id} is refused before its deadline`);
    // Pieces are dropped before the one that displaces them is in the queue.
    if (reason !== 'full') this.#enqueueArriving();
    if (this.#arriving?.fact === fact) this.#arriving = null;
    else this.model.leave(fact);
    if (fact.hasBegun) fact.state = 'paused';
    else this.ends(fact, 'refused');
  }

  /** Charges another flow from now on. */
  moves(fact: Fact, path: readonly string[]): void {
    const { nodes, state } = fact;
    const next = this.model.tree.use(path);
    if (state === 'waiting') this.model.leave(fact);
    if (state === 'held') this.givesBack(fact);
    this.model.tree.release(nodes);
    fact.nodes = next;
    if (state === 'waiting') this.joins(fact);
    if (state === 'held') this.model.take(fact, fact.isReserved);
  }

  /** A piece that waits is released. */
  leaves(fact: Fact): void {
    must(fact.state === 'waiting', `${fact.id} leaves, but is ${fact.state}`);
    this.model.leave(fact);
  }

  givesBack(fact: Fact): void {
    must(fact.state === 'held', `${fact.id} gives its permit back, but is ${fact.state}`);
    this.model.givesBack(fact);
  }

  ends(fact: Fact, ending: Ending): void {
    must(!this.endings.has(fact.id), `${fact.id} ends twice`);
    this.endings.set(fact.id, ending);
    fact.state = 'ended';
    this.model.tree.release(fact.nodes);
  }

  /**
   * After each call: no permit is left that a waiting piece could have, and no bound is exceeded.
   *
   * @param isDecision whether the scheduler has looked for a piece to begin
   */
  settled(isDecision: boolean, counts: { waiting: number; waitingBytes: number; held: number }): void {
    this.#enqueueArriving();
    const { model } = this;
    const { slots, reserve, maxWaiting, maxWaitingPerTenant, maxWaitingBytes } = model.limits;
    if (isDecision && model.waiting.length > 0) {
      if (model.regular() < slots || model.reserved() < reserve) model.chargeOverruns();
      for (const { id, nodes } of model.waiting) must(!nodes[0] || !model.mayStart(nodes[0]), `${id} could begin`);
    }
    const { root } = model.tree;
    must(counts.waiting === model.waiting.length, `${counts.waiting} wait, and not ${model.waiting.length}`);
    must(counts.waitingBytes === root.bytes, `${counts.waitingBytes} bytes wait, and not ${root.bytes}`);
    must(counts.held === model.holding.length, `${counts.held} permits are held, and not ${model.holding.length}`);
    must(counts.waiting <= maxWaiting, `${counts.waiting} pieces wait`);
    must(counts.waitingBytes <= maxWaitingBytes, `${counts.waitingBytes} bytes wait`);
    for (const { nodes } of model.waiting)
      must((nodes[0]?.waiting ?? 0) <= maxWaitingPerTenant, `${nodes[0]?.waiting} pieces of a tenant wait`);
  }

  /** The piece that arrives was neither refused nor begun at once. */
  #enqueueArriving(): void {
    if (!this.#arriving) return;
    this.model.enqueue(this.#arriving.fact);
    this.#arriving = null;
  }

  #checkDrop(fact: Fact): void {
    const arriving = this.#arriving;
    if (!arriving) throw new Fault(`${fact.id} is refused, and none arrives`);
    must(!arriving.startsAtOnce, `${fact.id} is refused, and a permit is free`);
    if (arriving.fact === fact) {
      must(!arriving.mayWait, `${fact.id} is refused within its share`);
      must(arriving.dropped === 0, `${fact.id} is refused after it has displaced others`);
    } else {
      must(arriving.mayWait, `${fact.id} must make room for one that is refused`);
      must(isLargest(this.model, fact, arriving.fact), `${fact.id} must make room, and not the newest of the largest`);
      arriving.dropped++;
    }
  }

  #checkWait(fact: Fact): void {
    const bound = longestWait(this.model, this.#largest, fact);
    if (bound === null) return;
    const waited = this.#now() - fact.since;
    this.checkedWaits++;
    this.longestShare = Math.max(this.longestShare, waited / bound);
    must(waited <= bound, `${fact.id} has waited ${waited}, and the longest is ${bound}`);
  }
}

/** A fault of the scheduler, and not an error of the simulation itself. */
export class Fault extends Error {
  override name = 'Fault';
}

export function must(condition: boolean, fault: string): asserts condition {
  if (!condition) throw new Fault(fault);
}

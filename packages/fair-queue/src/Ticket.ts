import type { Flow, Queued } from './Flow.ts';
import type { Outcome, Permit, Piece } from './interface.ts';

/** Does what the methods of a permit say. */
export type Owner = {
  release(ticket: Ticket): void;
  pause(ticket: Ticket): void;
  resume(ticket: Ticket): void;
  requeue(ticket: Ticket, outcome: Outcome): void;
  move(ticket: Ticket, path: readonly string[]): void;
};

/** A piece of work on its way: new or paused → waiting → held → ended or paused. */
export class Ticket implements Permit, Queued<Ticket> {
  readonly piece: Piece;
  readonly bytes: number;
  state: 'paused' | 'waiting' | 'held' | 'ended' = 'paused';
  flow: Flow<Ticket>;
  path: readonly string[];
  outcome: Outcome;
  hasBegun = false;
  /** How many pauses there are; the wait is one. */
  pauses = 1;
  /** Its place in the order of arrival, and its neighbours in the queue of its flow. */
  order = 0;
  before: Ticket | null = null;
  after: Ticket | null = null;
  /** When it began to wait, and when its wait ends. */
  since = 0;
  deadline = Number.POSITIVE_INFINITY;
  /** Ends the timer of the deadline and the listening to the signal. */
  stopWatching: (() => void) | null = null;
  /** Whether its permit is of the reserve. */
  isReserved = false;
  /** Its index among the tickets that hold permits. */
  place = -1;
  /** What it has been charged since it took its permit. */
  #chargedMs = 0;
  /** What it had used, or the time, when it took its permit. */
  #base = 0;
  readonly #scheduler: Owner;

  constructor(scheduler: Owner, piece: Piece, flow: Flow<Ticket>, outcome: Outcome) {
    this.#scheduler = scheduler;
    this.piece = piece;
    this.bytes = piece.bytes ?? 0;
    this.path = piece.path;
    this.flow = flow;
    this.outcome = outcome;
  }

  release(): void {
    this.#scheduler.release(this);
  }

  pause(): void {
    this.#scheduler.pause(this);
  }

  resume(): void {
    this.#scheduler.resume(this);
  }

  requeue(outcome: Outcome): void {
    this.#scheduler.requeue(this, outcome);
  }

  move(path: readonly string[]): void {
    this.#scheduler.move(this, path);
  }

  /** Takes a permit: charges the estimate. */
  hold(now: number): void {
    this.#base = this.piece.usedMs?.() ?? now;
    this.#chargedMs = this.piece.costMs;
    this.flow.hold(this.piece.costMs);
  }

  /** Charges what it has used beyond the estimate. */
  chargeOverrun(now: number): void {
    const usedMs = this.#usedMs(now);
    if (usedMs <= this.#chargedMs) return;
    this.flow.charge(usedMs - this.#chargedMs);
    this.#chargedMs = usedMs;
  }

  /** Gives its permit back: corrects the estimate. */
  giveBack(now: number): void {
    this.flow.charge(this.#usedMs(now) - this.#chargedMs);
    this.flow.unhold();
  }

  #usedMs(now: number): number {
    const usedMs = (this.piece.usedMs?.() ?? now) - this.#base;
    // A meter that is wrong must not make tags that no longer compare.
    return usedMs > 0 ? usedMs : 0;
  }
}

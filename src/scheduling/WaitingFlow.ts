import type { Outcome, Permit } from 'fair-queue';

/** A request that waits, in the fair queue or outside it. */
export type WaitingRequest = {
  readonly path: readonly string[];
  readonly since: number;
  readonly hasLeft: () => boolean;
  /** Asks for its permit. */
  readonly ask: (outcome: Outcome) => Permit;
  readonly start: (permit: Permit, waitedMs: number) => void;
  readonly refuse: () => void;
  /** Where it waits. */
  flow: WaitingFlow | null;
  /** What it has asked for; null while it waits outside the fair queue. */
  permit: Permit | null;
  hasBegun: boolean;
};

/** The requests of a flow that wait, and its overload. */
export class WaitingFlow {
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

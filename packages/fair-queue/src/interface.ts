/** A monotonic clock with timers, in milliseconds; tests advance it by hand. */
export type Clock = {
  now(): number;
  /** @returns what clears the timer */
  setTimeout(callback: () => void, delayMs: number): () => void;
};

export type Limits = {
  /** How many permits there are. */
  readonly slots: number;
  /** How many more there are, each for a tenant that holds no permit; none unless given. */
  readonly reserve?: number;
  /** How many permits one tenant may hold; all unless given. */
  readonly slotsPerTenant?: number;
  /** Flows whose start tags differ by less are served in the order of arrival; 0 unless given. */
  readonly burstMs?: number;
  /** How many pieces may wait; unlimited unless given. A tenant may always have its share of these. */
  readonly maxWaiting?: number;
  /** How many pieces of one tenant may wait; unlimited unless given. A flow may always have its share of these. */
  readonly maxWaitingPerTenant?: number;
  /** How many bytes the waiting pieces may have; unlimited unless given. A tenant may always have its share of these. */
  readonly maxWaitingBytes?: number;
  /** The longest wait of a piece that names none; unlimited unless given. */
  readonly waitMs?: number;
  /** How many idle flows are kept with their finish tags; 10,000 unless given. */
  readonly maxIdleFlows?: number;
};

/** A piece of work: a request, a statement, a task. */
export type Piece = {
  /** The path of its flow, the tenant first. A flow is a leaf: no path is the beginning of another flow's path. */
  readonly path: readonly string[];
  /** The estimate of its cost, charged whenever it takes a permit, and corrected by its actual cost. More than 0. */
  readonly costMs: number;
  /** How much memory it takes while it waits; 0 unless given. */
  readonly bytes?: number;
  /** The longest wait, of a requeued piece anew. */
  readonly waitMs?: number;
  /** Aborting it refuses the piece if it waits. */
  readonly signal?: AbortSignal;
  /** Its actual cost so far; unless given, the time for which it has held its permit. */
  readonly usedMs?: () => number;
};

/** The outcome of a piece that waits. Its functions must not throw. */
export type Outcome = {
  /** Called when it gets its permit: before `submit` returns if one is free. */
  readonly begin: (permit: Permit, waitedMs: number) => void;
  /** Called when it is refused: before `submit` returns if too many wait. */
  readonly refuse: (error: RefusedError) => void;
};

export type Permit = {
  /** Ends the piece of work, once. */
  release(): void;
  /** Gives the permit back for a while, such as while the work waits for something else. Pauses nest. */
  pause(): void;
  /** Takes the permit again at once, even if none is free; only for cases that few pieces can be in. */
  resume(): void;
  /** Queues a paused piece again. If it is refused, or released while it waits, it stays without a permit. */
  requeue(outcome: Outcome): void;
  /** Charges another flow from now on. A piece that waits goes to the end of that flow. */
  move(path: readonly string[]): void;
};

export type FairQueue = {
  /** How many pieces wait, and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** How many permits are held. */
  readonly held: number;
  /** How many of them a tenant holds. */
  heldBy(tenant: string): number;
  /** Queues a piece. Releasing its permit before it begins takes it out of the queue, without a call of `refuse`. */
  submit(piece: Piece, outcome: Outcome): Permit;
  /** Resolves when it is the piece's turn. @throws {RefusedError} */
  acquire(piece: Piece): Promise<Permit>;
  /** Works while it holds a permit. @throws {RefusedError} */
  run<T>(piece: Piece, work: () => Promise<T>): Promise<T>;
  /** Whether a piece of the flow at this path would be refused at once. */
  isFull(path: readonly string[], bytes?: number): boolean;
};

/** Too many pieces wait, the wait was too long, the signal was aborted, or the piece was released while it waited. */
export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly reason: 'full' | 'deadline' | 'aborted' | 'cancelled';

  constructor(reason: RefusedError['reason'], cause?: unknown) {
    super(`The piece of work was refused: ${reason}`, { cause });
    this.reason = reason;
  }
}

import type { Clock } from './clock.ts';

/**
 * Hierarchical max-min fair queueing: a free permit goes to the waiting flow that holds the fewest.
 *
 * Of flows that hold as many, the one that has held permits for the shortest time is next: start-time fair queueing, whose cost is
 * that time, since it is measured and not estimated. A flow that comes back after a rest starts at the time of the flow that was
 * served last, so that a rest saves up nothing. Flows are leaves of a tree: those of one branch share what the branch gets.
 *
 * P. Goyal, H. M. Vin, H. Cheng, Start-time fair queueing, SIGCOMM 1996; J. C. R. Bennett, H. Zhang, Hierarchical packet fair
 * queueing algorithms, SIGCOMM 1996.
 */
export class Flow<Item> {
  readonly path: readonly string[];
  /**
   * Waiting items, the oldest first; only a leaf has any.
   * An array and no Set: the tables that a Set leaves behind when items come and go each refer to the next (V8), so that one in the old
   * generation keeps all later ones with their items alive until a full collection.
   */
  readonly #queue: Item[] = [];
  /** In this flow and below it. */
  waiting = 0;
  /** Permits, in this flow and below it. */
  held = 0;
  readonly #parent: Flow<Item> | null;
  readonly #children = new Map<string, Flow<Item>>();
  /** Virtual time: its start time plus the milliseconds for which it has held permits. */
  #usedMs: number;
  /** The start time of a new flow below: the virtual time of the one that was served last. */
  #startMs = 0;

  constructor(path: readonly string[] = [], parent: Flow<Item> | null = null) {
    this.path = path;
    this.#parent = parent;
    this.#usedMs = parent ? parent.#startMs : 0;
  }

  /** The flow below the root that this one is a part of. */
  get tenant(): Flow<Item> {
    return this.#parent && this.path.length > 1 ? this.#parent.tenant : this;
  }

  /** The item that has waited for the longest time. */
  get oldest(): Item | undefined {
    return this.#queue[0];
  }

  get newest(): Item | undefined {
    return this.#queue.at(-1);
  }

  /** Those below in which something waits. */
  get waitingFlows(): Flow<Item>[] {
    return [...this.#children.values()].filter(({ waiting }) => waiting > 0);
  }

  /** How many of those below hold permits. */
  get holding(): number {
    return [...this.#children.values()].filter(({ held }) => held > 0).length;
  }

  /** The flow at a path from here; a flow that neither waits nor holds is not kept. */
  at(path: readonly string[]): Flow<Item> {
    let flow: Flow<Item> = this;
    for (const key of path) flow = flow.#children.get(key) ?? new Flow([...flow.path, key], flow);
    return flow;
  }

  /** The next leaf, of those that are eligible. */
  next(isEligible: (leaf: Flow<Item>) => boolean): Flow<Item> | null {
    if (this.waiting === 0) return null;
    if (this.#queue.length > 0) return isEligible(this) ? this : null;
    for (const flow of this.waitingFlows.sort((one, other) => one.#compare(other))) {
      const leaf = flow.next(isEligible);
      if (leaf) return leaf;
    }
    return null;
  }

  /** The flows below in which something waits, without those above them. */
  *leaves(): Generator<Flow<Item>> {
    if (this.#queue.length > 0) yield this;
    for (const flow of this.waitingFlows) yield* flow.leaves();
  }

  enqueue(item: Item): void {
    this.#queue.push(item);
    this.#add('waiting', 1);
  }

  has(item: Item): boolean {
    return this.#queue.includes(item);
  }

  dequeue(item: Item): void {
    const index = this.#queue.indexOf(item);
    if (index < 0) return;
    this.#queue.splice(index, 1);
    this.#add('waiting', -1);
  }

  /** Takes a permit. @returns what releases it, once, and charges the time for which it was held */
  hold(clock: Clock): () => void {
    for (let flow: Flow<Item> = this; flow.#parent; flow = flow.#parent) flow.#parent.#startMs = flow.#usedMs;
    this.#add('held', 1);
    const since = clock.now();
    return () => {
      const heldMs = clock.now() - since;
      for (let flow: Flow<Item> | null = this; flow; flow = flow.#parent) flow.#usedMs += heldMs;
      this.#add('held', -1);
    };
  }

  #compare(other: Flow<Item>): number {
    return this.held - other.held || this.#usedMs - other.#usedMs;
  }

  #add(count: 'waiting' | 'held', change: number): void {
    this[count] += change;
    if (!this.#parent) return;
    const key = this.path.at(-1) ?? '';
    if (this.waiting + this.held === 0) this.#parent.#children.delete(key);
    else this.#parent.#children.set(key, this);
    this.#parent.#add(count, change);
  }
}

/**
 * A flow of start-time fair queueing: a leaf with a queue, or an inner node that is a flow of its parent.
 *
 * Its start tag is max(its finish tag, the virtual time when it last began to wait). Serving it adds the cost to its finish tag.
 * The virtual time of a node is the least start tag of the flows below it that waited when one of them was last served.
 * So a flow that returns after a rest has earned nothing, and has kept its debt.
 */
export class Flow<Item extends Queued<Item>> {
  readonly key: string;
  readonly parent: Flow<Item> | null;
  readonly isLeaf: boolean;
  readonly children: Map<string, Flow<Item>>;
  /** The flows directly below in which a piece waits, in no order. */
  readonly waitingFlows: Flow<Item>[];
  /** Pieces that wait in this flow and below it, and their bytes. */
  waiting = 0;
  waitingBytes = 0;
  /** Permits of this flow and those below it. */
  held = 0;
  /** How many pieces and flows below need this flow. */
  uses = 0;
  /** Whether it is in the list of idle flows. */
  isIdle = false;
  oldest: Item | null = null;
  newest: Item | null = null;
  /** Its neighbours in that list. */
  idleBefore: Flow<Item> | null = null;
  idleAfter: Flow<Item> | null = null;
  #finish = 0;
  /** The virtual time of the parent when this flow last began to wait. */
  #returned = 0;
  #virtual = 0;
  /** The least start tag directly below at the last decision. */
  #least = 0;
  /** The greatest finish tag directly below so far. */
  #latest = 0;
  /** Its index in the parent's `waitingFlows`. */
  #place = -1;

  constructor(key: string, parent: Flow<Item> | null, isLeaf: boolean) {
    this.key = key;
    this.parent = parent;
    this.isLeaf = isLeaf;
    this.children = isLeaf ? none.children : new Map();
    this.waitingFlows = isLeaf ? none.flows : [];
  }

  get start(): number {
    return Math.max(this.#finish, this.#returned);
  }

  /** The flow directly below the root that this flow belongs to. */
  get tenant(): Flow<Item> {
    let flow: Flow<Item> = this;
    while (flow.parent?.parent) flow = flow.parent;
    return flow;
  }

  enqueue(item: Item): void {
    item.before = this.newest;
    if (this.newest) this.newest.after = item;
    else this.oldest = item;
    this.newest = item;
    for (let flow: Flow<Item> | null = this; flow; flow = flow.parent) {
      flow.waitingBytes += item.bytes;
      if (flow.waiting++ === 0) flow.#join();
    }
  }

  dequeue(item: Item): void {
    const { before, after } = item;
    if (before) before.after = after;
    else this.oldest = after;
    if (after) after.before = before;
    else this.newest = before;
    // A link out of an old object would keep young ones alive until a full collection.
    item.before = null;
    item.after = null;
    for (let flow: Flow<Item> | null = this; flow; flow = flow.parent) {
      flow.waitingBytes -= item.bytes;
      if (--flow.waiting === 0) flow.#leave();
    }
  }

  /** Counts a permit and charges the estimate; the piece that takes it is still in the queue if it was there. */
  hold(costMs: number): void {
    for (let flow: Flow<Item> | null = this; flow; flow = flow.parent) {
      flow.held++;
      if (flow.waiting === 0) flow.return();
      flow.#finish = flow.start + costMs;
      flow.#tellParent();
    }
  }

  /** Advances the virtual times, as this flow is served. */
  serve(): void {
    for (let flow = this.parent; flow; flow = flow.parent) flow.#virtual = Math.max(flow.#virtual, flow.#least);
  }

  unhold(): void {
    for (let flow: Flow<Item> | null = this; flow; flow = flow.parent) {
      flow.held--;
      flow.#endBusyPeriod();
    }
  }

  /** Corrects an estimate by a difference, which may be negative. */
  charge(differenceMs: number): void {
    for (let flow: Flow<Item> | null = this; flow; flow = flow.parent) {
      flow.#finish += differenceMs;
      flow.#tellParent();
    }
  }

  /** Begins to wait after a rest: its start tag is at least the virtual time. */
  return(): void {
    if (this.parent) this.#returned = this.parent.#virtual;
  }

  /**
   * Returns the leaf that is served next. A flow may be next if its start tag is within the burst of the least one. The flow whose oldest
   * piece came first wins. The same rule then chooses among the flows below it.
   *
   * @param waits whether a flow directly below counts as one that waits
   * @param mayStart whether a flow directly below may be served
   */
  next(burstMs: number, waits: FlowTest<Item> = always, mayStart: FlowTest<Item> = always): Flow<Item> | null {
    if (this.oldest) return this;
    let least = Number.POSITIVE_INFINITY;
    let leastStarting = Number.POSITIVE_INFINITY;
    for (const flow of this.waitingFlows) {
      if (!waits(flow)) continue;
      const { start } = flow;
      if (start < least) least = start;
      if (start < leastStarting && mayStart(flow)) leastStarting = start;
    }
    if (leastStarting === Number.POSITIVE_INFINITY) return null;
    this.#least = least;
    let next: Flow<Item> | null = null;
    let order = Number.POSITIVE_INFINITY;
    for (const flow of this.waitingFlows) {
      if (flow.start > leastStarting + burstMs || !waits(flow) || !mayStart(flow)) continue;
      const itsOrder = flow.#oldestOrder();
      if (itsOrder < order) [next, order] = [flow, itsOrder];
    }
    return next?.next(burstMs) ?? null;
  }

  #oldestOrder(): number {
    if (this.oldest) return this.oldest.order;
    let order = Number.POSITIVE_INFINITY;
    for (const flow of this.waitingFlows) order = Math.min(order, flow.#oldestOrder());
    return order;
  }

  #join(): void {
    if (!this.parent) return;
    this.return();
    this.#place = this.parent.waitingFlows.push(this) - 1;
  }

  #leave(): void {
    this.#endBusyPeriod();
    if (!this.parent) return;
    const flows = this.parent.waitingFlows;
    const last = flows.pop();
    if (!last || last === this) return;
    flows[this.#place] = last;
    last.#place = this.#place;
  }

  #tellParent(): void {
    if (this.parent && this.parent.#latest < this.#finish) this.parent.#latest = this.#finish;
  }

  /** The virtual time becomes the greatest finish tag when nothing waits and nothing is served (Goyal 1996, section 2). */
  #endBusyPeriod(): void {
    if (this.waiting + this.held === 0) this.#virtual = Math.max(this.#virtual, this.#latest);
  }
}

/** An item of a flow's queue, which is a list that is linked through its items. */
export type Queued<Item> = {
  readonly bytes: number;
  /** Its place in the order of arrival. */
  readonly order: number;
  before: Item | null;
  after: Item | null;
};

export type FlowTest<Item extends Queued<Item>> = (flow: Flow<Item>) => boolean;

const always = () => true;

/** The empty lists of every leaf. */
const none = { children: new Map<string, never>(), flows: [] as never[] };

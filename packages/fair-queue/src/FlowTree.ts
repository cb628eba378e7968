import { Flow, type Queued } from './Flow.ts';

/**
 * The flows by their paths, with an LRU list of the idle ones, so that a flow that returns has kept its finish tag.
 *
 * A flow is not made anew for each permit: V8 promoted the tables of a `Map` that changed with each permit, and then collected all of the
 * heap so often that this made the 99th percentile. The list is linked through the flows for the same reason.
 */
export class FlowTree<Item extends Queued<Item>> {
  readonly root = new Flow<Item>('', null, false);
  readonly #maxIdle: number;
  #idle = 0;
  #leastRecent: Flow<Item> | null = null;
  #mostRecent: Flow<Item> | null = null;

  constructor(maxIdle: number) {
    this.#maxIdle = maxIdle;
    this.root.uses = 1;
  }

  /** The leaf at a path, until it is released. @throws {TypeError} if the path begins that of another flow, or if one begins it */
  use(path: readonly string[]): Flow<Item> {
    if (path.length === 0) throw new TypeError('The path of a flow is empty');
    let flow = this.root;
    for (const [depth, key] of path.entries()) {
      const isLeaf = depth === path.length - 1;
      const below = flow.children.get(key) ?? this.#create(key, flow, isLeaf);
      if (below.isLeaf !== isLeaf)
        throw new TypeError(`The path of one flow begins that of another: ${path.join(', ')}`);
      flow = below;
    }
    this.#retain(flow);
    return flow;
  }

  release(flow: Flow<Item>): void {
    if (--flow.uses > 0) return;
    flow.isIdle = true;
    flow.idleBefore = this.#mostRecent;
    if (this.#mostRecent) this.#mostRecent.idleAfter = flow;
    else this.#leastRecent = flow;
    this.#mostRecent = flow;
    this.#idle++;
    while (this.#idle > this.#maxIdle && this.#leastRecent) this.#drop(this.#leastRecent);
  }

  #create(key: string, parent: Flow<Item>, isLeaf: boolean): Flow<Item> {
    const flow = new Flow<Item>(key, parent, isLeaf);
    parent.children.set(key, flow);
    this.#retain(parent);
    return flow;
  }

  #retain(flow: Flow<Item>): void {
    if (flow.isIdle) this.#unlink(flow);
    flow.uses++;
  }

  #drop(flow: Flow<Item>): void {
    this.#unlink(flow);
    const { parent, key } = flow;
    if (!parent) return;
    parent.children.delete(key);
    this.release(parent);
  }

  #unlink(flow: Flow<Item>): void {
    const { idleBefore, idleAfter } = flow;
    if (idleBefore) idleBefore.idleAfter = idleAfter;
    else this.#leastRecent = idleAfter;
    if (idleAfter) idleAfter.idleBefore = idleBefore;
    else this.#mostRecent = idleBefore;
    flow.idleBefore = null;
    flow.idleAfter = null;
    flow.isIdle = false;
    this.#idle--;
  }
}

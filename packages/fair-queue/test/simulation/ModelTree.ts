/** A flow of the model. */
export type Node = {
  readonly name: string;
  readonly parent: Node;
  finish: number;
  returned: number;
  virtual: number;
  latest: number;
  waiting: number;
  bytes: number;
  held: number;
  uses: number;
  /** When a piece last left its queue, and when it last fell below the limit of a tenant. */
  activeAt: number;
  uncappedAt: number;
};

export const start = ({ finish, returned }: Node): number => Math.max(finish, returned);

/** The flows of the model by their names, with a list of the idle ones. */
export class ModelTree {
  readonly root = createNode('', null);
  readonly nodes = new Map<string, Node>();
  readonly #maxIdle: number;
  #idle: Node[] = [];

  constructor(maxIdle: number) {
    this.#maxIdle = maxIdle;
  }

  use(path: readonly string[]): readonly Node[] {
    const found: Node[] = [];
    for (const key of path) found.push(this.#at(found.at(-1) ?? this.root, key));
    const leaf = found.at(-1);
    if (leaf) this.#retain(leaf);
    return found;
  }

  release(path: readonly Node[]): void {
    const leaf = path.at(-1);
    if (leaf) this.#release(leaf);
    while (this.#idle.length > this.#maxIdle) {
      const [dropped] = this.#idle.splice(0, 1);
      if (!dropped) return;
      this.nodes.delete(dropped.name);
      if (dropped.parent !== this.root) this.#release(dropped.parent);
    }
  }

  #at(parent: Node, key: string): Node {
    const name = `${parent.name}/${key}`;
    const known = this.nodes.get(name);
    if (known) return known;
    const node = createNode(name, parent);
    this.nodes.set(name, node);
    if (parent !== this.root) this.#retain(parent);
    return node;
  }

  #retain(node: Node): void {
    if (node.uses++ === 0) this.#idle = this.#idle.filter((idle) => idle !== node);
  }

  #release(node: Node): void {
    if (--node.uses === 0) this.#idle.push(node);
  }
}

function createNode(name: string, parent: Node | null): Node {
  const tags = { finish: 0, returned: 0, virtual: 0, latest: 0 };
  const counts = { waiting: 0, bytes: 0, held: 0, uses: 0 };
  const node = { name, parent: parent as Node, ...tags, ...counts, activeAt: -1, uncappedAt: -1 };
  // The root is its own parent, so that each node has one.
  if (!parent) node.parent = node;
  return node;
}

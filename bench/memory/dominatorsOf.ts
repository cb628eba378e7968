import type { Snapshot } from './readSnapshot.ts';

/**
 * The immediate dominator of each node of a heap: what must go before it can be collected. -1 for what cannot be reached.
 * K. Cooper, T. Harvey, K. Kennedy, A simple, fast dominance algorithm, 2001.
 */
export function dominatorsOf({ count, eachReference }: Snapshot): Int32Array {
  const successors = Array.from({ length: count }, (_, node) => {
    const found: number[] = [];
    eachReference(node, (to) => found.push(to));
    return found;
  });
  const order = postorder(successors);
  const place = new Int32Array(count).fill(-1);
  for (const [index, node] of order.entries()) place[node] = index;
  const predecessors = Array.from({ length: count }, (): number[] => []);
  for (const node of order) for (const to of successors[node] as number[]) predecessors[to]?.push(node);

  const dominators = new Int32Array(count).fill(-1);
  dominators[0] = 0;
  const common = (one: number, other: number) => {
    while (one !== other) {
      while ((place[one] as number) < (place[other] as number)) one = dominators[one] as number;
      while ((place[other] as number) < (place[one] as number)) other = dominators[other] as number;
    }
    return one;
  };
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const node of order.toReversed()) {
      if (node === 0) continue;
      const known = (predecessors[node] as number[]).filter((from) => dominators[from] !== -1);
      const dominator = known.reduce(common);
      hasChanged ||= dominators[node] !== dominator;
      dominators[node] = dominator;
    }
  }
  return dominators;
}

/** The nodes that the root, node 0, reaches, in postorder: each after the nodes that it leads to. */
function postorder(successors: readonly (readonly number[])[]): number[] {
  const order: number[] = [];
  const isSeen = new Uint8Array(successors.length);
  isSeen[0] = 1;
  const path = [{ node: 0, next: 0 }];
  for (let last = path.at(-1); last; last = path.at(-1)) {
    const to = successors[last.node]?.[last.next++];
    if (to === undefined) {
      order.push(last.node);
      path.pop();
    } else if (!isSeen[to]) {
      isSeen[to] = 1;
      path.push({ node: to, next: 0 });
    }
  }
  return order;
}

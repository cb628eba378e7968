import type { Fact, Model } from './Model.ts';
import type { Node } from './ModelTree.ts';

type Measure = 'waiting' | 'bytes';

/** Whether a piece that cannot begin at once may wait, if others make room for it up to its share. */
export function mayWait(model: Model, fact: Fact): boolean {
  return exceeded(model, fact).every((bound) => levelWithShare(model, fact.nodes, bound) >= 0);
}

/** Whether a piece is the newest of the flow that must make room for the newcomer. */
export function isLargest(model: Model, dropped: Fact, newcomer: Fact): boolean {
  const [bound] = exceeded(model, newcomer);
  if (!bound) return false;
  const level = levelWithShare(model, newcomer.nodes, bound);
  if (level < 0 || parentAt(dropped.nodes, level) !== parentAt(newcomer.nodes, level)) return false;
  for (let at = level; at < dropped.nodes.length; at++) {
    const own = dropped.nodes[at]?.[bound.measure] ?? 0;
    for (const other of waitingBelow(model, parentAt(dropped.nodes, at))) if (other[bound.measure] > own) return false;
  }
  const leaf = dropped.nodes.at(-1);
  return model.waiting.findLast((fact) => fact.nodes.at(-1) === leaf) === dropped;
}

type Bound = { readonly from: number; readonly measure: Measure; readonly added: number; readonly max: number };

/** The bounds that a piece would exceed; that of its tenant is shared by the flows below the tenant. */
function exceeded(model: Model, { nodes: [tenant], bytes }: Fact): Bound[] {
  const { maxWaiting, maxWaitingPerTenant, maxWaitingBytes } = model.limits;
  const { root } = model.tree;
  const found: Bound[] = [];
  if ((tenant?.waiting ?? 0) + 1 > maxWaitingPerTenant)
    found.push({ from: 1, measure: 'waiting', added: 1, max: maxWaitingPerTenant });
  if (root.waiting + 1 > maxWaiting) found.push({ from: 0, measure: 'waiting', added: 1, max: maxWaiting });
  if (root.bytes + bytes > maxWaitingBytes)
    found.push({ from: 0, measure: 'bytes', added: bytes, max: maxWaitingBytes });
  return found;
}

/** The first level at which the flow has no more than its share with what is added; -1 if there is none. */
function levelWithShare(model: Model, nodes: readonly Node[], { from, measure, added, max }: Bound): number {
  let share = max;
  for (let level = from; level < nodes.length; level++) {
    const node = nodes[level];
    if (!node) break;
    const beside = waitingBelow(model, node.parent);
    beside.add(node);
    share /= beside.size;
    if (node[measure] + added <= share) return level;
  }
  return -1;
}

const parentAt = (nodes: readonly Node[], level: number) => nodes[level]?.parent;

function waitingBelow(model: Model, parent: Node | undefined): Set<Node> {
  const found = new Set<Node>();
  for (const { nodes } of model.waiting) for (const node of nodes) if (node.parent === parent) found.add(node);
  return found;
}

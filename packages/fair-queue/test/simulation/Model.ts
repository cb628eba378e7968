import type { Limits } from '../../src/index.ts';
import type { Observed } from './longestWait.ts';
import { ModelTree, type Node, start } from './ModelTree.ts';

/** A piece of work as the judge knows it. */
export type Fact = {
  readonly id: number;
  readonly costMs: number;
  readonly bytes: number;
  readonly waitMs: number | undefined;
  /** What it will cost in all, in the unit of its permit. */
  readonly actualMs: number;
  nodes: readonly Node[];
  state: 'new' | 'waiting' | 'held' | 'paused' | 'ended';
  order: number;
  since: number;
  deadline: number;
  pauses: number;
  hasBegun: boolean;
  isReserved: boolean;
  chargedMs: number;
  heldSince: number;
  observed: Observed | null;
};

/**
 * Hierarchical start-time fair queueing as the README describes it, in lists that are searched as a whole.
 * It shares no code with the scheduler, and says which piece is next without beginning it.
 */
export class Model {
  readonly limits: Required<Limits>;
  readonly tree: ModelTree;
  readonly waiting: Fact[] = [];
  readonly holding: Fact[] = [];
  readonly #now: () => number;

  constructor(limits: Limits, now: () => number) {
    this.#now = now;
    const infinite = Number.POSITIVE_INFINITY;
    this.limits = {
      slots: limits.slots,
      reserve: limits.reserve ?? 0,
      slotsPerTenant: limits.slotsPerTenant ?? infinite,
      burstMs: limits.burstMs ?? 0,
      maxWaiting: limits.maxWaiting ?? infinite,
      maxWaitingPerTenant: limits.maxWaitingPerTenant ?? infinite,
      maxWaitingBytes: limits.maxWaitingBytes ?? infinite,
      waitMs: limits.waitMs ?? infinite,
      maxIdleFlows: limits.maxIdleFlows ?? 10_000,
    };
    this.tree = new ModelTree(this.limits.maxIdleFlows);
  }

  enqueue(fact: Fact): void {
    for (const node of fact.nodes) if (node.waiting === 0) node.returned = node.parent.virtual;
    for (const node of [...fact.nodes, this.tree.root]) {
      node.waiting++;
      node.bytes += fact.bytes;
    }
    fact.state = 'waiting';
    this.waiting.push(fact);
  }

  take(fact: Fact, isReserved: boolean): void {
    for (const node of fact.nodes) if (node.waiting === 0) node.returned = node.parent.virtual;
    this.tree.root.held++;
    for (const node of fact.nodes) {
      node.held++;
      node.finish = start(node) + fact.costMs;
      node.parent.latest = Math.max(node.parent.latest, node.finish);
    }
    fact.isReserved = isReserved;
    fact.chargedMs = fact.costMs;
    fact.heldSince = this.#now();
    if (fact.state === 'paused') fact.state = 'held';
    this.holding.push(fact);
  }

  givesBack(fact: Fact): void {
    this.#charge(fact, this.usedMs(fact) - fact.chargedMs);
    this.holding.splice(this.holding.indexOf(fact), 1);
    const [tenant] = fact.nodes;
    if (tenant?.held === this.limits.slotsPerTenant) {
      tenant.returned = this.tree.root.virtual;
      tenant.uncappedAt = this.#now();
    }
    for (const node of [...fact.nodes, this.tree.root]) node.held--;
    this.#endBusyPeriods(fact);
    fact.state = 'paused';
  }

  /** The use that a piece's meter has counted since the piece took its permit. */
  usedMs: (fact: Fact) => number = (fact) => this.#now() - fact.heldSince;

  decide(): Fact | null {
    this.chargeOverruns();
    const heads = this.#heads();
    const below = heads.filter(({ nodes: [tenant] }) => tenant && tenant.held < this.limits.slotsPerTenant);
    const startable = below.filter(({ nodes: [tenant] }) => tenant && this.mayStart(tenant));
    const chosen = this.#oldestNearLeast(startable, 0);
    if (!chosen) return null;
    this.tree.root.virtual = Math.max(this.tree.root.virtual, leastStart(below, 0));
    return this.#decideBelow(heads, chosen, 1);
  }

  #decideBelow(heads: Fact[], chosen: Fact, level: number): Fact {
    const parent = chosen.nodes[level - 1];
    if (!parent || level === chosen.nodes.length) return chosen;
    const within = heads.filter(({ nodes }) => nodes[level - 1] === parent);
    parent.virtual = Math.max(parent.virtual, leastStart(within, level));
    return this.#decideBelow(within, this.#oldestNearLeast(within, level) ?? chosen, level + 1);
  }

  /** The first waiting piece of each flow. */
  #heads(): Fact[] {
    const leaves = new Set<Node | undefined>();
    return this.waiting.filter(({ nodes }) => leaves.size < leaves.add(nodes.at(-1)).size);
  }

  #oldestNearLeast(heads: readonly Fact[], level: number): Fact | null {
    const limit = leastStart(heads, level) + this.limits.burstMs;
    let oldest: Fact | null = null;
    for (const head of heads) {
      const node = head.nodes[level];
      if (node && start(node) <= limit && (!oldest || head.order < oldest.order)) oldest = head;
    }
    return oldest;
  }

  mayStart(tenant: Node): boolean {
    const { slots, reserve, slotsPerTenant } = this.limits;
    if (tenant.held >= slotsPerTenant) return false;
    return this.regular() < slots || (tenant.held === 0 && this.reserved() < reserve);
  }

  reserved(): number {
    let count = 0;
    for (const { isReserved } of this.holding) if (isReserved) count++;
    return count;
  }

  regular(): number {
    return this.holding.length - this.reserved();
  }

  chargeOverruns(): void {
    for (const fact of this.holding) {
      const usedMs = this.usedMs(fact);
      if (usedMs <= fact.chargedMs) continue;
      this.#charge(fact, usedMs - fact.chargedMs);
      fact.chargedMs = usedMs;
    }
  }

  #charge({ nodes }: Fact, ms: number): void {
    for (const node of nodes) {
      node.finish += ms;
      node.parent.latest = Math.max(node.parent.latest, node.finish);
    }
  }

  leave(fact: Fact): void {
    this.waiting.splice(this.waiting.indexOf(fact), 1);
    for (const node of [...fact.nodes, this.tree.root]) {
      node.waiting--;
      node.bytes -= fact.bytes;
      node.activeAt = this.#now();
    }
    this.#endBusyPeriods(fact);
  }

  #endBusyPeriods({ nodes }: Fact): void {
    for (const node of [...nodes, this.tree.root])
      if (node.waiting + node.held === 0) node.virtual = Math.max(node.virtual, node.latest);
  }
}

function leastStart(heads: readonly Fact[], level: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const { nodes } of heads) {
    const node = nodes[level];
    if (node) least = Math.min(least, start(node));
  }
  return least;
}

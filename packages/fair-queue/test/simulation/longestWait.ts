import type { Fact, Model } from './Model.ts';
import { type Node, start } from './ModelTree.ts';

/** The state of the queue when a piece came, as the formula needs it for each level of the path. */
export type Observed = { readonly debts: readonly number[]; readonly aheadMs: number };

/** The largest so far: an actual cost, what a piece may be charged, and how far an estimate was above and below the actual cost. */
export type Largest = { costMs: number; chargeMs: number; overestimateMs: number; factor: number };

export function observe(model: Model, { nodes }: Fact): Observed {
  const leaf = nodes.at(-1);
  let aheadMs = 0;
  for (const other of model.waiting) if (other.nodes.at(-1) === leaf) aheadMs += Math.max(other.costMs, other.actualMs);
  return { debts: nodes.map((node) => debtOf(model, node)), aheadMs };
}

/** How far its start tag is above the virtual time, once each piece that it has in service is charged what it really costs. */
function debtOf(model: Model, node: Node): number {
  let debt = Math.max(0, (node.waiting > 0 ? start(node) : node.finish) - node.parent.virtual);
  for (const { nodes, actualMs, chargedMs } of model.holding)
    if (nodes.includes(node)) debt += Math.max(0, actualMs - chargedMs);
  return debt;
}

/**
 * The README's formula: how long a piece may have waited that begins now. Null where it promises nothing: while the tenant held as many
 * permits as it may.
 */
export function longestWait(model: Model, largest: Largest, { nodes, since, observed }: Fact): number | null {
  const { slots, reserve, burstMs } = model.limits;
  const [tenant] = nodes;
  if (!tenant || !observed || tenant.uncappedAt >= since) return null;
  const errorMs = largest.factor * (slots + reserve) * largest.overestimateMs;
  let debt = observed.aheadMs;
  for (let level = nodes.length - 1; level > 0; level--) {
    const node = nodes[level];
    if (!node) return null;
    debt += observed.debts[level] ?? 0;
    debt += activeBeside(model, node, since) * (largest.chargeMs + largest.factor * (burstMs + debt)) + errorMs;
  }
  debt += observed.debts[0] ?? 0;
  const others = activeBeside(model, tenant, since);
  return largest.costMs + (debt + others * (largest.costMs + largest.factor * (burstMs + debt)) + errorMs) / slots;
}

/** How many other flows below the same one have waited since then. */
function activeBeside(model: Model, node: Node, since: number): number {
  let count = 0;
  for (const other of model.tree.nodes.values())
    if (other !== node && other.parent === node.parent && (other.waiting > 0 || other.activeAt >= since)) count++;
  return count;
}

import { channel } from 'node:diagnostics_channel';
import { LambdaStep } from 'postgraphile/grafast';
import { fuseLayer } from './fuseLayer.ts';
import type { LayerPlan, OutputPlan } from './internals.ts';
import { Refused } from './Scope.ts';
import { subqueryRows } from './subqueryRows.ts';

export type OperationPlan = {
  readonly rootLayerPlan: LayerPlan;
  readonly rootOutputPlan: OutputPlan;
  getStepsByStepClass(stepClass: unknown): readonly unknown[];
};

/** Fuses the outermost lists of a finished plan that are known in all their parts; returns how many. */
export function fuseOperation(plan: OperationPlan): number {
  const { rootLayerPlan, rootOutputPlan } = plan;
  for (const step of plan.getStepsByStepClass(LambdaStep) as { fn: unknown & { name: string } }[]) {
    if (step.fn.name === 'pgInlineViaSubqueryTransform') step.fn = subqueryRows;
  }
  const lists = listsByLayer(rootOutputPlan);
  const fuseBelow = (above: LayerPlan): number => {
    let fused = 0;
    for (const layer of above.children) fused += tryToFuse(layer, above, lists.get(layer) ?? []) ? 1 : fuseBelow(layer);
    return fused;
  };
  return fuseBelow(rootLayerPlan);
}

function tryToFuse(layer: LayerPlan, above: LayerPlan, lists: readonly OutputPlan[]): boolean {
  if (layer.reason.type !== 'listItem' || lists.length === 0 || !isTree(layer)) return false;
  try {
    fuseLayer(layer, above, lists);
    fused.publish({ layer });
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    left.publish({ error });
    return false;
  }
}

/** Layers with several parents need what each of them computes. */
function isTree({ reason, children }: LayerPlan): boolean {
  return reason.type !== 'combined' && children.every(isTree);
}

/** The lists of an output by the layers of their items; a list whose items are somewhere else spoils its layer for fusion. */
function listsByLayer(root: OutputPlan): ReadonlyMap<LayerPlan, readonly OutputPlan[]> {
  const lists = new Map<LayerPlan, OutputPlan[]>();
  const visit = (plan: OutputPlan) => {
    if (plan.type.mode === 'array' && plan.child) {
      for (
        let layer: LayerPlan | undefined = plan.child.layerPlan;
        layer && layer !== plan.layerPlan;
        layer = layer.reason.parentLayerPlan
      ) {
        if (layer.reason.parentLayerPlan === plan.layerPlan) lists.set(layer, [...(lists.get(layer) ?? []), plan]);
      }
    }
    for (const child of childrenOf(plan)) visit(child);
  };
  visit(root);
  return lists;
}

function childrenOf({ child, keys, childByTypeName, deferredOutputPlans }: OutputPlan): OutputPlan[] {
  const members = Object.values(keys).flatMap((key) => (key.type === 'outputPlan' ? [key.outputPlan] : []));
  return [...(child ? [child] : []), ...members, ...Object.values(childByTypeName ?? {}), ...deferredOutputPlans];
}

const fused = channel('fusion:fused');
const left = channel('fusion:left');

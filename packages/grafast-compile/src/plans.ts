import type { LayerPlan, OutputPlan } from './internals.ts';

/** A layer and all below it. */
export function layersOf(layer: LayerPlan): readonly LayerPlan[] {
  return [layer, ...layer.children.flatMap(layersOf)];
}

/** The paths of the objects of a layer; null where none of the layers above is polymorphic. */
export function polymorphicPathsOf({ reason }: LayerPlan): ReadonlySet<string> | null {
  if (reason.polymorphicPaths) return reason.polymorphicPaths;
  if (reason.parentLayerPlans)
    return new Set(reason.parentLayerPlans.flatMap((each) => [...(polymorphicPathsOf(each) ?? [])]));
  return reason.parentLayerPlan ? polymorphicPathsOf(reason.parentLayerPlan) : null;
}

/** An output plan and all below it. */
export function outputPlansOf(plan: OutputPlan): readonly OutputPlan[] {
  return [plan, ...childrenOf(plan).flatMap(outputPlansOf)];
}

function childrenOf({ child, keys, childByTypeName, deferredOutputPlans }: OutputPlan): OutputPlan[] {
  const members = Object.values(keys).flatMap((key) => (key.type === 'outputPlan' ? [key.outputPlan] : []));
  return [...(child ? [child] : []), ...members, ...Object.values(childByTypeName ?? {}), ...deferredOutputPlans];
}

import { channel } from 'node:diagnostics_channel';
import { LambdaStep } from 'postgraphile/grafast';
import { fuseLayer } from './fuseLayer.ts';
import { type LayerPlan, type OperationPlan, type OutputPlan, outputPlansOf } from './internals.ts';
import { joinedRow } from './joinedRow.ts';
import { subqueryRows } from './subqueryRows.ts';

/** Fuses, of a finished plan that has not been run yet, the outermost lists that are known in all their parts. */
export function fuseOperation(plan: OperationPlan, mostBytes: number): void {
  replaceParsers(plan);
  const lists = listsByLayer(plan.rootOutputPlan);
  const visited = new Set<LayerPlan>();
  const fuseBelow = (above: LayerPlan) => {
    for (const layer of above.children) {
      if (visited.has(layer)) continue;
      visited.add(layer);
      if (!tryToFuse(layer, lists.get(layer) ?? [], mostBytes)) fuseBelow(layer);
    }
  };
  fuseBelow(plan.rootLayerPlan);
}

/** Rows within rows are parsed once for all, in fused lists and in others. */
function replaceParsers(plan: OperationPlan): void {
  for (const step of plan.getStepsByStepClass(LambdaStep) as { fn: { readonly name: string } }[]) {
    step.fn = parsers.get(step.fn.name) ?? step.fn;
  }
}

/** By the names of those in @dataplan/pg. */
const parsers: ReadonlyMap<string, { readonly name: string }> = new Map<string, { readonly name: string }>([
  ['pgInlineViaSubqueryTransform', subqueryRows],
  ['pgInlineViaJoinTransform', joinedRow],
]);

function tryToFuse(layer: LayerPlan, lists: readonly OutputPlan[], mostBytes: number): boolean {
  if (lists.length === 0 || !isTree(layer)) return false;
  try {
    fuseLayer(layer, lists, mostBytes);
    fused.publish({});
    return true;
  } catch (error) {
    left.publish({ error });
    return false;
  }
}

/** Tell whoever listens what came of each list: a test counts them. */
const fused = channel('fusion:fused');
const left = channel('fusion:left');

/** A layer with several parents needs what each of them computes. */
function isTree({ reason, children }: LayerPlan): boolean {
  return reason.type !== 'combined' && children.every(isTree);
}

/** The lists of an output by the layers of their items. */
function listsByLayer(root: OutputPlan): ReadonlyMap<LayerPlan, readonly OutputPlan[]> {
  const lists = new Map<LayerPlan, OutputPlan[]>();
  for (const plan of outputPlansOf(root)) {
    for (const layer of layersOfItems(plan)) lists.set(layer, [...(lists.get(layer) ?? []), plan]);
  }
  return lists;
}

/** The one just below a list; all up to the root, and none of them will be fused, where that is not how they are related. */
function layersOfItems({ type, child, layerPlan }: OutputPlan): readonly LayerPlan[] {
  if (type.mode !== 'array') return [];
  const layers: LayerPlan[] = [];
  let layer = child?.layerPlan;
  for (; layer && layer !== layerPlan; layer = layer.reason.parentLayerPlan) layers.unshift(layer);
  return layer ? layers.slice(0, 1) : layers;
}

import { channel } from 'node:diagnostics_channel';
import { LambdaStep } from 'postgraphile/grafast';
import { fuseLayer } from './fuseLayer.ts';
import { type LayerPlan, type OperationPlan, type OutputPlan, outputPlansOf } from './internals.ts';
import { joinedRow } from './joinedRow.ts';
import { subqueryRows } from './subqueryRows.ts';

/** Fuses the outermost fusible lists of a finished plan, before its first run. */
export function fuseOperation(plan: OperationPlan, maxBytes: number): void {
  replaceParsers(plan);
  const lists = listsByLayer(plan.rootOutputPlan);
  const visited = new Set<LayerPlan>();
  const fuseBelow = (above: LayerPlan) => {
    for (const layer of above.children) {
      if (visited.has(layer)) continue;
      visited.add(layer);
      if (!tryToFuse(layer, lists.get(layer) ?? [], maxBytes)) fuseBelow(layer);
    }
  };
  fuseBelow(plan.rootLayerPlan);
}

/** Replaces @dataplan/pg's parsers of rows within rows by one-pass ones, in fused lists and in others. */
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

function tryToFuse(layer: LayerPlan, lists: readonly OutputPlan[], maxBytes: number): boolean {
  if (lists.length === 0 || !isTree(layer)) return false;
  try {
    fuseLayer(layer, lists, maxBytes);
    fused.publish({});
    return true;
  } catch (error) {
    left.publish({ error });
    return false;
  }
}

/** Diagnostics channels for the outcome of each list: a test counts them. */
const fused = channel('fusion:fused');
const left = channel('fusion:left');

/** A layer with several parents depends on all of them. */
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

/** The layer just below a list; where they are not related so, all up to the root: none is fused. */
function layersOfItems({ type, child, layerPlan }: OutputPlan): readonly LayerPlan[] {
  if (type.mode !== 'array') return [];
  const layers: LayerPlan[] = [];
  let layer = child?.layerPlan;
  for (; layer && layer !== layerPlan; layer = layer.reason.parentLayerPlan) layers.unshift(layer);
  return layer ? layers.slice(0, 1) : layers;
}

import { computeStep } from './computeStep.ts';
import type { LayerPlan, OutputPlan } from './internals.ts';
import { type Constant, constantOf } from './JsonWriter.ts';
import { Refused, type Scope, type Write } from './Scope.ts';
import { writeLeaf } from './writeLeaf.ts';

/**
 * How to write what an output plan stands for, as Grafast does if nothing is wrong with it.
 *
 * @throws {Refused} when any part of it is not known here
 */
export function writeOutput(plan: OutputPlan, scope: Scope): Write {
  if (plan.sideEffectStep || plan.processRoot || plan.deferredOutputPlans.length > 0) throw new Refused('Effects');
  const [layer] = layersTo(plan.layerPlan, scope.layer);
  if (layer) return writeUnlessNull(plan, layer, scope);
  const write = writers.get(plan.type.mode);
  if (!write) throw new Refused(`Output ${plan.type.mode}`);
  return write(plan, scope);
}

const writers = new Map([
  ['leaf', writeLeaf],
  ['object', writeObject],
  ['array', writeArray],
  ['polymorphic', writePolymorphic],
]);

/** The layers from below this one down to that of a plan. */
function layersTo(target: LayerPlan, above: LayerPlan): LayerPlan[] {
  if (target === above) return [];
  const { type, parentLayerPlan } = target.reason;
  if (!parentLayerPlan || target.parentSideEffectStep || !plainLayers.has(type)) throw new Refused(`Layer ${type}`);
  return [...layersTo(parentLayerPlan, above), target];
}

const plainLayers = new Set(['nullableBoundary', 'listItem', 'polymorphic', 'polymorphicPartition']);

/** A field that may be null is a layer of its own, of the objects that are there. */
function writeUnlessNull(plan: OutputPlan, layer: LayerPlan, scope: Scope): Write {
  if (layer.reason.type !== 'nullableBoundary' || !layer.rootStep) throw new Refused(`Layer ${layer.reason.type}`);
  const value = computeStep(layer.rootStep, scope);
  const inner = scope.below(layer);
  const write = inner.whole(writeOutput(plan, inner));
  return (frame, json) => (value(frame) == null ? json.null() : write(frame, json));
}

function writeObject(plan: OutputPlan, scope: Scope): Write {
  if (plan.type.hasRootBehavior) throw new Refused('A root');
  const object = computeStep(plan.rootStep, scope);
  const members: { readonly before: Constant; readonly write: Write }[] = [];
  let pending = '{';
  for (const [index, [key, member]] of Object.entries(plan.keys).entries()) {
    pending += `${index === 0 ? '' : ','}"${key}":`;
    if (member.type === '__typename') {
      pending += `"${plan.type.typeName}"`;
    } else {
      const write = required(writeOutput(member.outputPlan, scope), member.isNonNull);
      members.push({ before: constantOf(pending), write });
      pending = '';
    }
  }
  const end = constantOf(`${pending}}`);
  return (frame, json) => {
    if (object(frame) == null) return json.null();
    for (const { before, write } of members) {
      json.constant(before);
      write(frame, json);
    }
    return json.constant(end);
  };
}

/** Null where none may be is an error, which Grafast reports. */
function required(write: Write, isNonNull: boolean): Write {
  if (!isNonNull) return write;
  return (frame, json) => {
    if (!write(frame, json)) throw new Refused('Null');
    return true;
  };
}

export function writeArray(plan: OutputPlan, scope: Scope): Write {
  const { child, rootStep } = plan;
  const [layer] = child ? layersTo(child.layerPlan, scope.layer) : [];
  if (!child || !layer?.rootStep || !isOfItems(layer, plan)) throw new Refused('A list');
  const list = computeStep(rootStep, scope);
  const inner = scope.below(layer);
  const slot = inner.bind(layer.rootStep);
  const write = inner.whole(required(writeOutput(child, inner), plan.childIsNonNull));
  return (frame, json) => {
    const items = list(frame);
    if (items == null) return json.null();
    if (!Array.isArray(items)) throw new Refused('No list');
    let before = openingBracket;
    for (const item of items) {
      frame[slot] = item;
      json.constant(before);
      write(frame, json);
      before = comma;
    }
    return json.constant(items.length === 0 ? emptyList : closingBracket);
  };
}

const openingBracket = constantOf('[');
const comma = constantOf(',');
const closingBracket = constantOf(']');
const emptyList = constantOf('[]');

function isOfItems({ reason }: LayerPlan, { rootStep }: OutputPlan): boolean {
  return reason.type === 'listItem' && !reason.stream && reason.parentStep === rootStep;
}

function writePolymorphic(plan: OutputPlan, scope: Scope): Write {
  const typeName = computeStep(plan.rootStep, scope);
  const types = Object.entries(plan.childByTypeName ?? {});
  const writes = new Map(types.map(([name, child]) => [name, writeType(child, name, plan, scope)]));
  return (frame, json) => {
    const name = typeName(frame);
    if (name == null) return json.null();
    const write = writes.get(name as string);
    if (!write) throw new Refused(`Type ${name}`);
    return write(frame, json);
  };
}

/** Each type is in a layer of several, and may be in one of fewer below that. */
function writeType(child: OutputPlan, typeName: string, { rootStep }: OutputPlan, scope: Scope): Write {
  const layers = layersTo(child.layerPlan, scope.layer);
  const [{ reason } = scope.layer] = layers;
  const areOfType = layers.every((layer) => layer.reason.typeNames?.includes(typeName));
  if (reason.type !== 'polymorphic' || reason.parentStep !== rootStep || !areOfType) throw new Refused('A type');
  const path = scope.path === undefined ? undefined : `${scope.path ?? ''}>${typeName}`;
  const scopes: Scope[] = [];
  for (const layer of layers) scopes.push((scopes.at(-1) ?? scope).below(layer, path));
  return scopes.reduceRight((write, inner) => inner.whole(write), writeOutput(child, scopes.at(-1) ?? scope));
}

import { computeStep } from './computeStep.ts';
import type { LayerPlan, OutputPlan } from './internals.ts';
import { type Constant, constantOf } from './JsonWriter.ts';
import { type LayerCompiler, NotCompilableError, type Write } from './LayerCompiler.ts';
import { writeLeaf } from './writeLeaf.ts';

/**
 * Compiles an output plan to a function that writes its JSON, as Grafast does if there is no error.
 *
 * @throws {NotCompilableError} when any part of it is not known here
 */
export function writeOutput(plan: OutputPlan, compiler: LayerCompiler): Write {
  if (plan.processRoot || plan.deferredOutputPlans.length > 0) throw new NotCompilableError('A deferred output');
  const [layer] = layersTo(plan.layerPlan, compiler.layer);
  if (layer) return writeUnlessNull(plan, layer, compiler);
  const write = writers.get(plan.type.mode);
  if (!write) throw new NotCompilableError(`Output ${plan.type.mode}`);
  return write(plan, compiler);
}

const writers = new Map([
  ['leaf', writeLeaf],
  ['object', writeObject],
  ['root', writeMembers],
  ['array', writeArray],
  ['polymorphic', writePolymorphic],
]);

/** The layers from below this one down to that of a plan. */
function layersTo(target: LayerPlan, above: LayerPlan): LayerPlan[] {
  if (target === above) return [];
  const { type, parentLayerPlan } = target.reason;
  if (!parentLayerPlan || !plainLayers.has(type)) throw new NotCompilableError(`Layer ${type}`);
  return [...layersTo(parentLayerPlan, above), target];
}

const plainLayers = new Set(['mutationField', 'nullableBoundary', 'listItem', 'polymorphic', 'polymorphicPartition']);

/** A field that may be null is a layer of its own, of the objects that are there. */
function writeUnlessNull(plan: OutputPlan, layer: LayerPlan, compiler: LayerCompiler): Write {
  if (layer.reason.type === 'mutationField') return writeOutput(plan, compiler.below(layer));
  if (layer.reason.type !== 'nullableBoundary' || !layer.rootStep)
    throw new NotCompilableError(`Layer ${layer.reason.type}`);
  const value = computeStep(layer.rootStep, compiler);
  const inner = compiler.below(layer);
  const write = inner.withPrologue(writeOutput(plan, inner));
  return (registers, json) => (value(registers) == null ? json.null() : write(registers, json));
}

function writeObject(plan: OutputPlan, compiler: LayerCompiler): Write {
  if (plan.type.hasRootBehavior) throw new NotCompilableError('A root');
  const object = computeStep(plan.rootStep, compiler);
  const write = writeMembers(plan, compiler);
  return (registers, json) => (object(registers) == null ? json.null() : write(registers, json));
}

/** An object that is there, as the root is. */
function writeMembers(plan: OutputPlan, compiler: LayerCompiler): Write {
  const members: { readonly before: Constant; readonly write: Write }[] = [];
  let pending = '{';
  for (const [index, [key, member]] of Object.entries(plan.keys).entries()) {
    pending += `${index === 0 ? '' : ','}"${key}":`;
    if (member.type === '__typename') {
      pending += `"${plan.type.typeName}"`;
    } else {
      const write = required(writeOutput(member.outputPlan, compiler), member.isNonNull);
      members.push({ before: constantOf(pending), write });
      pending = '';
    }
  }
  const end = constantOf(`${pending}}`);
  return (registers, json) => {
    for (const { before, write } of members) {
      json.constant(before);
      write(registers, json);
    }
    return json.constant(end);
  };
}

/** Null in a non-null position is an error, which Grafast reports. */
function required(write: Write, isNonNull: boolean): Write {
  if (!isNonNull) return write;
  return (registers, json) => {
    if (!write(registers, json)) throw new NotCompilableError('Null');
    return true;
  };
}

function writeArray(plan: OutputPlan, compiler: LayerCompiler): Write {
  const { child, rootStep } = plan;
  const [layer] = child ? layersTo(child.layerPlan, compiler.layer) : [];
  if (!child || !layer?.rootStep || !isOfItems(layer, plan)) throw new NotCompilableError('A list');
  const list = computeStep(rootStep, compiler);
  const inner = compiler.below(layer);
  const register = inner.inRegister(layer.rootStep);
  const write = inner.withPrologue(required(writeOutput(child, inner), plan.childIsNonNull));
  return (registers, json) => {
    const items = list(registers);
    if (items == null) return json.null();
    if (!Array.isArray(items)) throw new NotCompilableError('No list');
    let before = openingBracket;
    for (const item of items) {
      registers[register] = item;
      json.constant(before);
      write(registers, json);
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

function writePolymorphic(plan: OutputPlan, compiler: LayerCompiler): Write {
  const typeName = computeStep(plan.rootStep, compiler);
  const types = Object.entries(plan.childByTypeName ?? {});
  const writes = new Map(types.map(([name, child]) => [name, writeType(child, name, plan, compiler)]));
  return (registers, json) => {
    const name = typeName(registers);
    if (name == null) return json.null();
    const write = writes.get(name as string);
    if (!write) throw new NotCompilableError(`Type ${name}`);
    return write(registers, json);
  };
}

/** Each type is in a layer of several, and may be in one of fewer below that. */
function writeType(child: OutputPlan, typeName: string, { rootStep }: OutputPlan, compiler: LayerCompiler): Write {
  const layers = layersTo(child.layerPlan, compiler.layer);
  const [{ reason } = compiler.layer] = layers;
  const areOfType = layers.every((layer) => layer.reason.typeNames?.includes(typeName));
  if (reason.type !== 'polymorphic' || reason.parentStep !== rootStep || !areOfType)
    throw new NotCompilableError('A type');
  const path = `${compiler.path ?? ''}>${typeName}`;
  const inners: LayerCompiler[] = [];
  for (const layer of layers) inners.push((inners.at(-1) ?? compiler).below(layer, path));
  return inners.reduceRight((write, inner) => inner.withPrologue(write), writeOutput(child, inners.at(-1) ?? compiler));
}

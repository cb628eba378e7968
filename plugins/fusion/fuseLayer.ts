import { channel } from 'node:diagnostics_channel';
import { ByteBudget, budgetOf, spendOn } from '../byteBudget.ts';
import { type Bucket, type ExecutionValue, type LayerPlan, type OutputPlan, unusable } from './internals.ts';
import { JsonWriter, TooLong } from './JsonWriter.ts';
import { type Counted, LayerCompiler, NotFusible, RegisterMap, type Registers, type Write } from './LayerCompiler.ts';
import { writeArray } from './writeOutput.ts';

/**
 * Loop fusion: writes the lists of this layer in one pass, as soon as the layer above is complete.
 * If that fails, for any reason, Grafast does with the same rows what it would have done without.
 *
 * @throws {NotFusible} when any part of them is not known here; then nothing is changed
 */
export function fuseLayer(layer: LayerPlan, plans: readonly OutputPlan[], maxBytes: number): void {
  const lists = plans.map((plan) => compileList(plan, layer));
  const { newBucket } = layer;
  layer.newBucket = (bucket) => {
    const counted: Counted = [];
    const budget = budgetOf(bucket.sharedState, maxBytes);
    // A budget of its own, since Grafast counts again what it has to write instead.
    const ownBudget = new ByteBudget(budget.left);
    try {
      const written = lists.map((list) => [list.plan, writeList(list, bucket, counted, ownBudget)] as const);
      budget.spend(budget.left - ownBudget.left);
      for (const [plan, texts] of written) bucket.store.set(plan, texts);
      // Nothing is left to do in this layer.
      return null;
    } catch (error) {
      if (error instanceof TooLong) {
        budget.spend(Number.POSITIVE_INFINITY);
        for (const plan of plans) bucket.store.set(plan, tooLong);
        return null;
      }
      if (refused.hasSubscribers) refused.publish({ error });
      for (const [countRows, rows] of counted) countRows(-rows);
      return newBucket.call(layer, bucket);
    }
  };

  for (const plan of plans) {
    const { execute, executeString } = plan;
    plan.executeString = function (root, path, bucket, index, ...rest) {
      const texts = textsOf(plan, bucket);
      const text = texts?.[index];
      if (text !== undefined || texts === tooLong) spendOn(root, text?.length ?? Number.POSITIVE_INFINITY, maxBytes);
      return text ?? executeString.call(this, root, path, bucket, index, ...rest);
    };
    plan.execute = function (root, path, bucket, index, ...rest) {
      const text = textsOf(plan, bucket)?.[index];
      return text === undefined ? execute.call(this, root, path, bucket, index, ...rest) : JSON.parse(text);
    };
  }
}

/** Diagnostics channel: why rows were left to Grafast. */
const refused = channel('fusion:refused');

type List = { readonly plan: OutputPlan; readonly layout: RegisterMap; readonly write: Write };

function compileList(plan: OutputPlan, layer: LayerPlan): List {
  const above = layer.reason.parentLayerPlan;
  if (plan.layerPlan !== above) throw new NotFusible('A list that is somewhere else');
  if (plan.sideEffectStep || plan.processRoot) throw new NotFusible('Effects');
  const layout = new RegisterMap();
  const write = writeArray(plan, new LayerCompiler(layout, above, pathsAbove(above)));
  const isThere = (id: number) => id === plan.rootStep.id || layer.copyStepIds.includes(id);
  if (![...layout.inputs.keys()].every(({ id }) => isThere(id))) throw new NotFusible('An input is not at hand');
  return { plan, layout, write };
}

/** No type was chosen above, or it is not known which. */
function pathsAbove({ reason }: LayerPlan): null | undefined {
  if (reason.type === 'root') return null;
  const isOfTypes = reason.type === 'polymorphic' || reason.type === 'polymorphicPartition';
  return isOfTypes || !reason.parentLayerPlan ? undefined : pathsAbove(reason.parentLayerPlan);
}

/** Texts are stored in the bucket and freed with it: a weak map would retain the last ones for long. */
function textsOf(plan: OutputPlan, { store }: Bucket): Texts | undefined {
  return store.get(plan) as Texts | undefined;
}

/** One for each object of the layer above; undefined where there is no list, or an error instead. */
type Texts = readonly (string | undefined)[];

/** In place of texts that exceed the byte limit of an answer. */
const tooLong: Texts = [];

function writeList({ plan, layout, write }: List, bucket: Bucket, counted: Counted, budget: ByteBudget): Texts {
  const inputs = Array.from(layout.inputs, ([step, register]) => ({ register, values: valuesOf(step.id, bucket) }));
  const lists = valuesOf(plan.rootStep.id, bucket);
  const registers: Registers = [];
  registers[layout.counted] = counted;
  return Array.from({ length: bucket.size }, (_, index) => {
    if (lists._flagsAt(index) & unusable || lists.at(index) == null) return undefined;
    for (const { register, values } of inputs) {
      if (values._flagsAt(index) & unusable) throw new NotFusible('An input is an error');
      registers[register] = values.at(index);
    }
    const json = new JsonWriter(budget);
    write(registers, json);
    return json.take();
  });
}

function valuesOf(stepId: number, { store }: Bucket) {
  const values = store.get(stepId) as ExecutionValue | undefined;
  if (!values) throw new NotFusible('An input is missing');
  return values;
}

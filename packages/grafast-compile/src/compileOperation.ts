import { ByteBudget } from './byteBudget.ts';
import { compileStatement, type PreparedStatement, type StatementTexts } from './compileStatement.ts';
import { computeStep, dependenciesOf, isComputed, isPlain, runsFor } from './computeStep.ts';
import {
  classOf,
  type LambdaStep,
  LambdaStepClass,
  type LayerPlan,
  type OperationPlan,
  type SelectStep,
  SelectStepClass,
  type Step,
} from './internals.ts';
import { JsonWriter } from './JsonWriter.ts';
import { LayerCompiler, NotCompilableError, RegisterMap, type Registers } from './LayerCompiler.ts';
import type { Row } from './parseRows.ts';
import { writeOutput } from './writeOutput.ts';

/** Runs a statement of the operation, and gives its rows. */
type RunStatement = (statement: NonNullable<PreparedStatement['statement']>) => Promise<readonly Row[]>;

/** The operation's data as JSON. @throws whatever fails, and is Grafast's to report */
export type RunOperation = (variables: unknown, context: object, run: RunStatement) => Promise<string>;

/**
 * Compiles a planned operation to a function from variables and claims to JSON.
 * It runs the same statements as Grafast.
 *
 * @param id unique to the plan
 * @throws {NotCompilableError} when any part of it is not known here
 */
export function compileOperation(
  plan: OperationPlan,
  id: string,
  texts: StatementTexts,
  maxBytes: number,
): RunOperation {
  const map = new RegisterMap();
  const root = new LayerCompiler(map, plan.rootLayerPlan);
  const variablesRegister = root.inRegister(plan.variableValuesStep);
  const contextRegister = root.inRegister(plan.contextStep);
  const toStatement: ToStatement = (step, compiler) => compileStatement(step, compiler, `${id}.${step.id}`, texts);
  const runLayer = compileLayer(root, toStatement);
  const write = writeOutput(plan.rootOutputPlan, root);

  return async (variables, context, run) => {
    const registers = map.create();
    registers[variablesRegister] = variables;
    registers[contextRegister] = context;
    await runLayer?.(registers, run);
    const json = new JsonWriter(new ByteBudget(maxBytes));
    write(registers, json);
    return json.take();
  };
}

type ToStatement = (step: SelectStep, compiler: LayerCompiler) => ReturnType<typeof compileStatement>;
type RunLayer = (registers: Registers, run: RunStatement) => Promise<void> | undefined;

/**
 * Compiles what waits or may throw in a layer, by Grafast's schedule, and in the layers below.
 * Null when nothing does.
 */
function compileLayer(compiler: LayerCompiler, toStatement: ToStatement): RunLayer | null {
  const { layer } = compiler;
  const phases = layer.phases
    .map(({ _allSteps }) => _allSteps.flatMap((step) => compileTask(step, compiler, toStatement) ?? []))
    .filter((tasks) => tasks.length > 0);
  const layers = layer.children.flatMap((child) => compileChild(child, compiler, toStatement));
  if (phases.length === 0 && layers.length === 0) return null;
  const isSerial = layer.children.some(({ reason }) => reason.type === 'mutationField');

  return async (registers, run) => {
    for (const tasks of phases) await runAll(tasks, registers, run);
    if (!isSerial) return runAll(layers, registers, run);
    for (const each of layers) await each(registers, run);
  };
}

function runAll(all: readonly RunLayer[], registers: Registers, run: RunStatement): Promise<void> | undefined {
  const [only] = all;
  if (all.length < 2) return only?.(registers, run);
  // All of them settle before an error ends the run: none is left behind.
  return Promise.allSettled(all.map(async (each) => each(registers, run))).then((outcomes) => {
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  });
}

function compileTask(step: Step, compiler: LayerCompiler, toStatement: ToStatement): RunLayer | null {
  if ((step.isSyncAndSafe && !step.hasSideEffects) || !runsFor(step, compiler)) return null;
  if (!compiler.isSingle) {
    if (step instanceof SelectStepClass || step.hasSideEffects)
      throw new NotCompilableError('A statement for each row');
    return null;
  }
  if (!isPlain(step)) throw new NotCompilableError(`${classOf(step)} for errors or nulls`);
  if (step instanceof SelectStepClass) return statementTask(step as unknown as SelectStep, compiler, toStatement);
  if (step instanceof LambdaStepClass && !step.hasSideEffects)
    return lambdaTask(step as unknown as Step & LambdaStep, compiler);
  if (step.hasSideEffects || !isComputed(step)) throw new NotCompilableError(classOf(step));
  return null;
}

function statementTask(step: SelectStep, compiler: LayerCompiler, toStatement: ToStatement): RunLayer {
  const prepare = toStatement(step, compiler);
  const register = compiler.inRegister(step);
  return async (registers, run) => {
    const { statement, resultOf } = await prepare(registers);
    registers[register] = resultOf(statement ? await run(statement) : []);
  };
}

/** A function that may wait or throw, such as a check: it runs even if nothing needs its value. */
function lambdaTask(step: Step & LambdaStep, compiler: LayerCompiler): RunLayer {
  const [value] = dependenciesOf(step, compiler);
  const register = compiler.inRegister(step);
  return async (registers) => {
    registers[register] = await step.fn(value?.(registers));
  };
}

/** Compiles a layer below, which runs only if it has an object. */
function compileChild(layer: LayerPlan, above: LayerCompiler, toStatement: ToStatement): RunLayer[] {
  const { type, typeNames = [] } = layer.reason;
  if (type === 'polymorphic') return typeNames.flatMap((name) => compileType(layer, above, name, toStatement));
  if (type === 'polymorphicPartition' && !typeNames.includes(above.path?.split('>').at(-1) ?? '')) return [];
  const run = compileLayer(above.below(layer), toStatement);
  if (!run) return [];
  if (type === 'mutationField' || type === 'polymorphicPartition') return [run];
  if (type !== 'nullableBoundary' || !layer.rootStep) throw new NotCompilableError(`Statements in a layer ${type}`);
  const value = computeStep(layer.rootStep, above);
  return [(registers, runStatement) => (value(registers) == null ? undefined : run(registers, runStatement))];
}

function compileType(layer: LayerPlan, above: LayerCompiler, name: string, toStatement: ToStatement): RunLayer[] {
  const run = compileLayer(above.below(layer, `${above.path ?? ''}>${name}`), toStatement);
  if (!run) return [];
  const typeOf = computeStep(layer.reason.parentStep as Step, above);
  return [(registers, runStatement) => (typeOf(registers) === name ? run(registers, runStatement) : undefined)];
}

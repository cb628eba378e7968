import {
  type ColumnStep,
  type ConnectionStep,
  type CursorDetails,
  classOf,
  type LambdaStep,
  orNull,
  type RowStep,
  type Step,
  type StepClass,
  unusable,
} from './internals.ts';
import { type Compute, type LayerCompiler, NotCompilableError } from './LayerCompiler.ts';

/**
 * Compiles a step: how to compute its value for the current object, as Grafast would if all goes well.
 *
 * @throws {NotCompilableError} when the step's class is unknown here, or the step is not run plainly
 */
export function computeStep(step: Step, compiler: LayerCompiler): Compute {
  const owner = compiler.ownerOf(step);
  const known = owner.find(step);
  if (known) return known;

  const name = classOf(step);
  const compile = compilers.get(name);
  if (!compile || step.hasSideEffects || !isPlain(step) || !runsFor(step, owner))
    throw new NotCompilableError(`${name} ${step.id}`);
  const compute = compile(step, owner);
  return isShared(step) ? owner.memoize(step, compute) : owner.inline(step, compute);
}

/** It is not run for errors or inhibited values: they end a compiled run. */
export function isPlain({ dependencyForbiddenFlags: forbidden, dependencyOnReject: onReject }: Step): boolean {
  return forbidden.every((flags) => (flags & ~orNull) === unusable) && onReject.every((value) => value === undefined);
}

/** Grafast runs most steps for each object of their layer, and some for some types of objects only. */
export function runsFor(step: Step, { path }: LayerCompiler): boolean {
  return !step._isSelectiveStep || (typeof path === 'string' && step.polymorphicPaths?.has(path) === true);
}

type Compile = (step: Step, compiler: LayerCompiler) => Compute;

/** By the step's class. */
const compilers: ReadonlyMap<string, Compile> = new Map<StepClass, Compile>([
  ['ConstantStep', byItself],
  ['AccessStep', byItself],
  ['ObjectStep', byItself],
  ['BakedInputStep', byItself],
  ['__InputDefaultStep', byItself],
  ['__InputObjectStep', byItself],
  ['PgFromExpressionStep', byItself],
  ['FirstStep', byItself],
  ['LastStep', byItself],
  ['EdgeStep', byItself],
  ['PageInfoStep', byItself],
  ['PgCursorStep', ofCursor],
  ['PgSelectSingleStep', ofRow],
  ['PgClassExpressionStep', ofColumn],
  ['ListStep', ofList],
  ['LambdaStep', ofLambda],
  ['PgSelectRowsStep', ofRows],
  ['ConnectionStep', ofConnection],
  ['ConnectionItemsStep', ofRows],
]);

/** Whether steps of its class are known here. */
export const isComputed = (step: Step): boolean => compilers.has(classOf(step));

/** Memoized, unless it is quick or used by one step only; a check runs even if no step uses it. */
function isShared(step: Step): boolean {
  const name = classOf(step);
  if (quick.has(name)) return false;
  // A cursor is used by its edge and by its field.
  if (name === 'PgCursorStep') return true;
  return step.dependents.length > 1 || (name === 'LambdaStep' && !step.isSyncAndSafe);
}

const quick: ReadonlySet<string> = new Set<StepClass>([
  'ConstantStep',
  'PgClassExpressionStep',
  'PageInfoStep',
  'ConnectionStep',
  'ConnectionItemsStep',
]);

/** By the step's own function: none of these classes uses its first argument. */
function byItself(step: Step, compiler: LayerCompiler): Compute {
  if (!step.isSyncAndSafe || !step.unbatchedExecute) throw new NotCompilableError(`${classOf(step)} waits`);
  const run = step.unbatchedExecute.bind(step, nothing);
  const all = dependenciesOf(step, compiler);
  const [one, other] = all;
  if (!one) return () => run();
  if (!other) return (registers) => run(one(registers));
  if (all.length === 2) return (registers) => run(one(registers), other(registers));
  return (registers) => run(...all.map((compute) => compute(registers)));
}

const nothing = Object.freeze({});

export const dependenciesOf = (step: Step, compiler: LayerCompiler) =>
  step.dependencies.map((dependency, index) => {
    const compute = computeStep(dependency, compiler);
    return (step.dependencyForbiddenFlags[index] as number) & orNull ? notNull(compute) : compute;
  });

/** Null inhibits the step, and all that depend on it. */
const notNull =
  (compute: Compute): Compute =>
  (registers) => {
    const value = compute(registers);
    if (value == null) throw new NotCompilableError('An inhibited step');
    return value;
  };

/** A joined row that is all nulls, or lacks its check column, is null. */
function ofRow(step: Step, compiler: LayerCompiler): Compute {
  const { nullCheckAttributeIndex, _coalesceToEmptyObject } = step as Step & RowStep;
  const [item] = dependenciesOf(step, compiler);
  if (!item || typeof nullCheckAttributeIndex !== 'number' || _coalesceToEmptyObject) return byItself(step, compiler);
  return (registers) => {
    const row = item(registers) as readonly unknown[] | null | undefined;
    return row?.[nullCheckAttributeIndex] == null ? null : row;
  };
}

/** A column, or any other expression, of a row. */
function ofColumn(step: Step, compiler: LayerCompiler): Compute {
  const { attrIndex, pgCodec } = step as Step & ColumnStep;
  const [row] = dependenciesOf(step, compiler);
  if (!row || typeof attrIndex !== 'number' || !pgCodec) throw new NotCompilableError('A column that is unlike others');
  return (registers) => {
    const text = (row(registers) as readonly (string | null)[] | null)?.[attrIndex];
    return text == null ? null : pgCodec.fromPg(text);
  };
}

/** As in PgCursorStep, but without a Buffer, which takes longer than all the rest. */
function ofCursor(step: Step, compiler: LayerCompiler): Compute {
  const [row, details] = dependenciesOf(step, compiler);
  if (!row || !details) throw new NotCompilableError('A cursor of nothing');
  return (registers) => {
    const values = row(registers) as readonly string[] | null;
    const order = details(registers) as CursorDetails | null;
    if (values == null || order == null) return null;
    const { digest, indicies } = order;
    if (indicies.every(({ index }) => values[index] == null)) return null;
    const text = JSON.stringify([digest, ...indicies.map(({ index, codec }) => codec.fromPg(values[index]))]);
    return isAscii.test(text) ? btoa(text) : Buffer.from(text).toString('base64');
  };
}

/** JSON escapes control characters. */
const isAscii = /^[ -~]*$/;

function ofList(step: Step, compiler: LayerCompiler): Compute {
  const items = dependenciesOf(step, compiler);
  const [one, other] = items;
  if (one && other && items.length === 2) return (registers) => [one(registers), other(registers)];
  return (registers) => items.map((item) => item(registers));
}

function ofLambda(step: Step, compiler: LayerCompiler): Compute {
  const { fn } = step as Step & LambdaStep;
  const [value] = dependenciesOf(step, compiler);
  // Others may give promises.
  if (!value || !(step.isSyncAndSafe || fn.isSync)) throw new NotCompilableError(`Lambda ${fn.name}`);
  return (registers) => fn(value(registers));
}

/** The rows of a statement's result, and of a connection. */
function ofRows(step: Step, compiler: LayerCompiler): Compute {
  const [found] = dependenciesOf(step, compiler);
  if (!found) throw new NotCompilableError('Rows of nothing');
  return (registers) => (found(registers) as { readonly items: unknown }).items;
}

/** A connection whose collection pages itself, as statements do; its other dependencies are checks. */
function ofConnection(step: Step, compiler: LayerCompiler): Compute {
  const { neededCollection, collectionDepId, paramsDepId, _mightStream } = step as Step & ConnectionStep;
  if (!neededCollection || paramsDepId !== null || _mightStream)
    throw new NotCompilableError('A connection that pages itself');
  const dependencies = dependenciesOf(step, compiler);
  const collection = dependencies[collectionDepId];
  if (!collection) throw new NotCompilableError('A connection of nothing');
  return collection;
}

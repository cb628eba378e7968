import { countPage } from '../RowLimitPlugin.ts';
import { type Step, unusable } from './internals.ts';
import { type Compute, type Counted, Refused, type Scope } from './Scope.ts';

/**
 * How to get what a step gives for the object at hand, as Grafast would compute it if all goes well.
 *
 * @throws {Refused} when the step is of no class that is known here, or is run in some other way than plainly
 */
export function computeStep(step: Step, scope: Scope): Compute {
  const owner = scope.ownerOf(step);
  if (!owner) return fromSlot(scope.layout.slotOf(step));
  const known = owner.find(step);
  if (known) return known;

  const { name } = step.constructor;
  const compile = compilers.get(name);
  if (!compile || !isPlain(step) || !runsFor(step, owner)) throw new Refused(`${name} ${step.id}`);
  const compute = compile(step, owner);
  return isShared(step) ? owner.keep(step, compute) : owner.define(step, compute);
}

const fromSlot =
  (slot: number): Compute =>
  (frame) =>
    frame[slot];

/** It has no effects, and is not run for errors and the like, at which a fused run ends anyway. */
function isPlain(step: Step): boolean {
  const { dependencyForbiddenFlags: forbidden, dependencyOnReject: onReject } = step;
  return (
    !step.hasSideEffects &&
    step.implicitSideEffectStep === null &&
    forbidden.every((flags) => flags === unusable) &&
    onReject.every((value) => value === undefined)
  );
}

/** Grafast runs most steps for each object of their layer, and some for some types of objects only. */
function runsFor(step: Step, { path }: Scope): boolean {
  return !step._isSelectiveStep || (typeof path === 'string' && step.polymorphicPaths?.has(path) === true);
}

type Compile = (step: Step, scope: Scope) => Compute;

/** By the name of the step's class: not all of them are exported. */
const compilers: ReadonlyMap<string, Compile> = new Map<string, Compile>([
  ['ConstantStep', byItself],
  ['AccessStep', byItself],
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

/** Needs a slot, unless it is looked up as fast without, or by one step only; a check is made even if nobody asks. */
function isShared(step: Step): boolean {
  const { name } = step.constructor;
  if (quick.has(name)) return false;
  // A cursor is asked for by its edge and by its field.
  if (name === 'PgCursorStep') return true;
  return step.dependents.length > 1 || (name === 'LambdaStep' && !step.isSyncAndSafe);
}

const quick = new Set([
  'ConstantStep',
  'PgClassExpressionStep',
  'PageInfoStep',
  'ConnectionStep',
  'ConnectionItemsStep',
]);

/** With the step's own function: of these classes none looks at its first argument. */
function byItself(step: Step, scope: Scope): Compute {
  if (!step.isSyncAndSafe || !step.unbatchedExecute) throw new Refused(`${step.constructor.name} waits`);
  const run = step.unbatchedExecute.bind(step, nothing);
  const [one, other, ...others] = dependenciesOf(step, scope);
  if (others.length > 0) throw new Refused(`${step.constructor.name} has many dependencies`);
  if (!one) return () => run();
  if (!other) return (frame) => run(one(frame));
  return (frame) => run(one(frame), other(frame));
}

const nothing = Object.freeze({});

const dependenciesOf = (step: Step, scope: Scope) =>
  step.dependencies.map((dependency) => computeStep(dependency, scope));

/** A row that was joined may be all nulls, and is none then; so is one without a certain column. */
function ofRow(step: Step, scope: Scope): Compute {
  const { nullCheckAttributeIndex, _coalesceToEmptyObject } = step as Step & RowStep;
  const [item] = dependenciesOf(step, scope);
  if (!item || typeof nullCheckAttributeIndex !== 'number' || _coalesceToEmptyObject) return byItself(step, scope);
  return (frame) => {
    const row = item(frame) as readonly unknown[] | null | undefined;
    return row?.[nullCheckAttributeIndex] == null ? null : row;
  };
}

type RowStep = { readonly nullCheckAttributeIndex: number | null; readonly _coalesceToEmptyObject: boolean };

/** A column, or any other expression, of a row. */
function ofColumn(step: Step, scope: Scope): Compute {
  const { attrIndex, pgCodec } = step as Step & ColumnStep;
  const [row] = dependenciesOf(step, scope);
  if (!row || typeof attrIndex !== 'number' || !pgCodec) throw new Refused('A column that is unlike others');
  return (frame) => {
    const text = (row(frame) as readonly (string | null)[] | null)?.[attrIndex];
    return text == null ? null : pgCodec.fromPg(text);
  };
}

type ColumnStep = { readonly attrIndex: number; readonly pgCodec: { fromPg(text: string): unknown } };

/** As PgCursorStep has it, but for a Buffer, which takes longer than all the rest. */
function ofCursor(step: Step, scope: Scope): Compute {
  const [row, details] = dependenciesOf(step, scope);
  if (!row || !details) throw new Refused('A cursor of nothing');
  return (frame) => {
    const values = row(frame) as readonly string[] | null;
    const order = details(frame) as CursorDetails | null;
    if (values == null || order == null) return null;
    const { digest, indicies } = order;
    if (indicies.every(({ index }) => values[index] == null)) return null;
    const text = JSON.stringify([digest, ...indicies.map(({ index, codec }) => codec.fromPg(values[index]))]);
    return isAscii.test(text) ? btoa(text) : Buffer.from(text).toString('base64');
  };
}

type CursorDetails = {
  readonly digest: string;
  readonly indicies: readonly {
    readonly index: number;
    readonly codec: { fromPg(text: string | undefined): unknown };
  }[];
};

/** JSON escapes control characters. */
const isAscii = /^[ -~]*$/;

function ofList(step: Step, scope: Scope): Compute {
  const items = dependenciesOf(step, scope);
  const [one, other] = items;
  if (one && other && items.length === 2) return (frame) => [one(frame), other(frame)];
  return (frame) => items.map((item) => item(frame));
}

function ofLambda(step: Step, scope: Scope): Compute {
  const { fn } = step as Step & LambdaStep;
  const [value] = dependenciesOf(step, scope);
  if (value && fn === countPage) return counting(value, scope.layout.counted);
  // Others may give promises.
  if (!value || !(step.isSyncAndSafe || fn.isSync)) throw new Refused(`Lambda ${fn.name}`);
  return (frame) => fn(value(frame));
}

/** Notes what it counts, which is taken back when Grafast has to count it again. */
function counting(value: Compute, counted: number): Compute {
  return (frame) => {
    const page = value(frame) as Parameters<typeof countPage>[0];
    const [countRows, rows] = page;
    if (countRows) (frame[counted] as Counted).push([countRows, rows.length]);
    return countPage(page);
  };
}

/** Its function says `isSync` when it may throw, but never gives a promise. */
export type LambdaStep = { readonly fn: ((value: unknown) => unknown) & { readonly isSync?: boolean } };

/** Of what a statement found, and of a connection. */
function ofRows(step: Step, scope: Scope): Compute {
  const [found] = dependenciesOf(step, scope);
  if (!found) throw new Refused('Rows of nothing');
  return (frame) => (found(frame) as { readonly items: unknown }).items;
}

/** A connection of what knows its pages itself, as statements do; what it depends on beside that are checks. */
function ofConnection(step: Step, scope: Scope): Compute {
  const { neededCollection, collectionDepId, paramsDepId, _mightStream } = step as Step & ConnectionStep;
  if (!neededCollection || paramsDepId !== null || _mightStream) throw new Refused('A connection that pages itself');
  const dependencies = dependenciesOf(step, scope);
  const collection = dependencies[collectionDepId];
  if (!collection) throw new Refused('A connection of nothing');
  return collection;
}

type ConnectionStep = {
  readonly neededCollection: boolean;
  readonly collectionDepId: number;
  readonly paramsDepId: number | null;
  readonly _mightStream: boolean | null;
};

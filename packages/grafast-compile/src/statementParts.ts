import type { PgSelectQueryBuilder } from 'postgraphile/@dataplan/pg';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { computeStep } from './computeStep.ts';
import {
  classOf,
  executionDetails,
  type InlineStep,
  type PagedStep,
  type SelectStep,
  type Step,
  type StepClass,
} from './internals.ts';
import { type Compute, type LayerCompiler, NotCompilableError, type Registers } from './LayerCompiler.ts';
import type { Marks, StatementShape } from './StatementShape.ts';

/** A dependency from which a statement's text follows, or some of its values. */
type Part = {
  describe(registers: Registers, shape: StatementShape): void;
  /** The dependency's value, with marks in the places of values, in the same order. */
  build(registers: Registers, marks: Marks): unknown;
};

type PartsOfStep = readonly { readonly id: number; readonly part: Part }[];

export function describeAll(parts: PartsOfStep, registers: Registers, shape: StatementShape): void {
  for (const { part } of parts) part.describe(registers, shape);
}

/** The values of a step's dependencies by their index. */
export function buildAll(parts: PartsOfStep, step: Step, registers: Registers, marks: Marks): unknown[] {
  const values: unknown[] = step.dependencies.map(() => undefined);
  for (const { id, part } of parts) values[id] = part.build(registers, marks);
  return values;
}

/** The arguments of a page, and what changes the statement. */
export function partsOf(
  step: PagedStep,
  { mode, alias }: Pick<SelectStep, 'mode' | 'alias'>,
  compiler: LayerCompiler,
): PartsOfStep {
  const { firstStepId, lastStepId, offsetStepId, afterStepId, beforeStepId, applyDepIds } = step;
  const partAt = (ids: readonly (number | null)[], toPart: (dependency: Step) => Part) =>
    ids.flatMap((id) => (id === null ? [] : [{ id, part: toPart(step.dependencies[id] as Step) }]));
  return [
    ...partAt([firstStepId, lastStepId, offsetStepId], (size) => textPart(computeStep(size, compiler))),
    ...partAt([afterStepId, beforeStepId], (cursor) => cursorPart(computeStep(cursor, compiler))),
    ...partAt(applyDepIds, (apply) => applyPart(apply, { mode, alias }, compiler)),
  ];
}

/** The text follows from the value itself. */
const textPart = (value: Compute): Part => ({
  describe: (registers, shape) => shape.text(textOf(value(registers))),
  build: (registers) => value(registers),
});

/** A value as JSON, in which undefined is not null. @throws {NotCompilableError} when that says too little */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (inner === undefined) return { undefined: true };
    if (typeof inner === 'function' || inner instanceof Map || inner instanceof Set)
      throw new NotCompilableError('No JSON');
    return inner;
  });
}

/** A cursor: the order's digest, and a row's values. */
const cursorPart = (value: Compute): Part => ({
  describe(registers, shape) {
    const cursor = value(registers) as readonly unknown[] | null | undefined;
    if (cursor == null || isNatural(cursor)) return shape.text(textOf(cursor));
    const [digest, ...values] = cursor;
    shape.text(textOf([digest, values.length]));
    for (const each of values) shape.value(each);
  },
  build(registers, marks) {
    const cursor = value(registers) as readonly unknown[] | null | undefined;
    if (cursor == null || isNatural(cursor)) return cursor;
    return cursor.map((each, index) => (index === 0 ? each : marks.next()));
  },
});

/** A row's number, which is a part of the text, in the place of its values. */
export const isNatural = (cursor: unknown) => Array.isArray(cursor) && cursor[0] === 'natural';

export const fragmentPart = (value: Compute): Part => ({
  describe: (registers, shape) => shape.fragment(value(registers) as SQL),
  build: (registers, marks) => marks.fragment(value(registers) as SQL),
});

/** The part of a statement that an apply step adds to it before it runs. */
function applyPart(step: Step, target: Pick<SelectStep, 'mode' | 'alias'>, compiler: LayerCompiler): Part {
  const name = classOf(step) as StepClass;
  if (name === 'PgSelectInlineApplyStep') return inlinePart(step as InlineStep, compiler);
  if (name === 'ConstantStep') {
    const value = computeStep(step, compiler);
    return { describe: () => undefined, build: (registers) => value(registers) };
  }
  // An order: its text is known by its name.
  if (name === 'ApplyInputStep') {
    const inputs = step.dependencies.map((dependency) => computeStep(dependency, compiler));
    return {
      describe: (registers, shape) => shape.text(textOf(inputs.map((input) => input(registers)))),
      build: (registers) => step.unbatchedExecute?.({}, ...inputs.map((input) => input(registers))),
    };
  }
  return changePart(computeStep(step, compiler), target);
}

type Change = (query: PgSelectQueryBuilder) => void;

/** Functions that add SQL to the statement: they add it to a recorder first. */
function changePart(value: Compute, { mode, alias }: Pick<SelectStep, 'mode' | 'alias'>): Part {
  const recorder = new Recorder(mode, alias);
  const record = (registers: Registers, visit: Visit): readonly Change[] => {
    const change = value(registers) as Change | readonly (Change | null)[] | null | undefined;
    if (typeof change === 'function') return recorder.record(change, visit);
    return change?.flatMap((each) => (each ? recorder.record(each, visit) : [])) ?? [];
  };
  return {
    describe(registers, shape) {
      record(registers, shape);
      shape.text('');
    },
    build: (registers, marks) => record(registers, marks),
  };
}

/** Handles the SQL that is added to a statement. */
type Visit = { text(text: string): void; fragment(fragment: SQL): SQL };

/** A query builder that records what is added. Using a method that it lacks ends the compiled run. */
class Recorder {
  readonly mode: string;
  readonly alias: SQL;
  #visit: Visit | null = null;
  #recorded: Change[] = [];

  constructor(mode: string, alias: SQL) {
    this.mode = mode;
    this.alias = alias;
  }

  record(change: Change, visit: Visit): readonly Change[] {
    this.#visit = visit;
    this.#recorded = [];
    change(this as unknown as PgSelectQueryBuilder);
    return this.#recorded;
  }

  where(expression: SQL): void {
    this.#visit?.text('where');
    const visited = this.#fragment(expression);
    this.#recorded.push((query) => query.where(visited));
  }

  selectAndReturnIndex(expression: SQL): void {
    this.#visit?.text('select');
    const visited = this.#fragment(expression);
    this.#recorded.push((query) => query.selectAndReturnIndex(visited));
  }

  join(join: Join): void {
    this.#visit?.text(`${join.type} ${join.lateral}`);
    const visited = withSqlOf(join, (part) => this.#fragment(part));
    this.#recorded.push((query) => query.join(visited as never));
  }

  #fragment(fragment: SQL): SQL {
    return this.#visit?.fragment(fragment) ?? fragment;
  }
}

type Join = { readonly type: string; readonly lateral?: boolean };

/** The same join with other SQL, whose parts are visited in their order. */
function withSqlOf(join: Join, replace: (part: SQL) => SQL): object {
  const replaced = Object.entries(join).map(([name, part]: [string, unknown]) => {
    if (sql.isSQL(part)) return [name, replace(part)];
    return [name, Array.isArray(part) ? part.map(replace) : part];
  });
  return Object.fromEntries(replaced);
}

/** A statement that was made part of this one. */
function inlinePart(step: InlineStep, compiler: LayerCompiler): Part {
  const parts = partsOf(step, step.staticInfo, compiler);
  return {
    describe: (registers, shape) => describeAll(parts, registers, shape),
    build: (registers, marks) =>
      (step.execute(executionDetails(buildAll(parts, step, registers, marks))) as unknown[])[0],
  };
}

import type { LRUCache } from 'lru-cache';
import { computeStep } from './computeStep.ts';
import { type BuiltStatement, executionDetails, type Placeholder, type SelectStep, type Step } from './internals.ts';
import { type Compute, type LayerCompiler, NotCompilableError, type Registers } from './LayerCompiler.ts';
import type { Row } from './parseRows.ts';
import { Marks, StatementShape } from './StatementShape.ts';
import { buildAll, describeAll, fragmentPart, isNatural, partsOf } from './statementParts.ts';
import { type Page, pageOf } from './subqueryRows.ts';

/** Statement texts by the shapes of their arguments. */
export type StatementTexts = LRUCache<string, StatementText>;

type StatementText = {
  /** Null when there is no row in any case. */
  readonly text: string | null;
  readonly name: string;
  readonly parameters: readonly unknown[];
  /** Which of the shape's values each parameter is; -1: none, it is the same in each run. */
  readonly places: readonly number[];
  /** Grafast's result for a statement without rows. */
  readonly template: Template;
};

type Template = Pick<Page, 'cursorDetails' | 'groupDetails'> & { readonly m: object };

/** A statement that is ready to be run, and what its step gives for its rows. */
export type PreparedStatement = {
  readonly statement: {
    readonly name: string;
    readonly text: string;
    readonly values: readonly unknown[];
    readonly rowMode: 'array';
  } | null;
  resultOf(rows: readonly Row[]): unknown;
};

/**
 * Compiles a statement's step: Grafast builds its text once for each shape of arguments.
 * Then it is bound to values.
 *
 * @param id unique to the step
 * @throws {NotCompilableError} when a part of it is not known here
 */
export function compileStatement(step: SelectStep, compiler: LayerCompiler, id: string, texts: StatementTexts) {
  if (step.streamDetailsDepIds?.length) throw new NotCompilableError('A stream');
  const dependency = (index: number) => computeStep(step.dependencies[index] as Step, compiler);
  const placeholders = step.placeholders.map((placeholder) =>
    encodedPlaceholder(placeholder, dependency(placeholder.dependencyIndex)),
  );
  const deferreds = step.deferreds.map(({ dependencyIndex: id }) => ({ id, part: fragmentPart(dependency(id)) }));
  const parts = [...partsOf(step, step, compiler), ...deferreds];
  const pageArguments = compilePage(step, dependency);

  const build = (registers: Registers, shape: StatementShape): Promise<StatementText> => {
    const marks = new Marks(shape);
    const encoded = placeholders.map(() => marks.next());
    const values = buildAll(parts, step, registers, marks);
    const marked = step.placeholders.map((each, index) => ({
      ...each,
      dependencyIndex: values.length + index,
      alreadyEncoded: true,
    }));
    return buildText(step, [...values, ...encoded], marks, marked);
  };

  return async (registers: Registers): Promise<PreparedStatement> => {
    const shape = new StatementShape();
    for (const placeholder of placeholders) shape.value(placeholder(registers));
    describeAll(parts, registers, shape);
    const key = `${id}:${shape.key}`;
    let known = texts.get(key);
    if (!known) {
      known = await build(registers, shape);
      texts.set(key, known);
    }
    const { text, name, parameters, places, template } = known;
    if (text === null) return { statement: null, resultOf: () => template };
    const values =
      places.length === 0
        ? parameters
        : parameters.map((parameter, index) => {
            const place = places[index] as number;
            return place === -1 ? parameter : shape.values[place];
          });
    return {
      statement: { name, text, values, rowMode: 'array' },
      resultOf: (rows) => pageOf(rows, { ...template, meta: template.m, ...pageArguments(registers) }),
    };
  };
}

/** Compiles what a page depends on besides its rows: its size, offset and direction. */
function compilePage(step: SelectStep, dependency: (index: number) => Compute) {
  const { firstStepId, lastStepId, offsetStepId, afterStepId, beforeStepId, fetchOneExtra } = step;
  const [first, last, offset, after, before] = [firstStepId, lastStepId, offsetStepId, afterStepId, beforeStepId].map(
    (id) => (id === null ? () => null : dependency(id)),
  ) as [Size, Size, Size, Compute, Compute];
  return (registers: Registers) => {
    const page = { first: first(registers), last: last(registers), offset: offset(registers), fetchOneExtra };
    const isNumbered = isNatural(after(registers)) || isNatural(before(registers));
    return { ...page, shouldReverseOrder: page.first == null && page.last != null && !isNumbered };
  };
}

type Size = (registers: Registers) => number | null | undefined;

/** The value of a placeholder as PostgreSQL reads it. */
function encodedPlaceholder({ codec, alreadyEncoded }: Placeholder, value: Compute): Compute {
  return (registers) => {
    const found = value(registers);
    return found == null ? null : alreadyEncoded ? found : codec.toPg(found);
  };
}

/** Has the step build its statement, and intercepts that. */
async function buildText(
  step: SelectStep,
  values: unknown[],
  marks: Marks,
  placeholders: readonly Placeholder[],
): Promise<StatementText> {
  let built: BuiltStatement | null = null;
  const intercept = (specs: readonly { readonly queryValues: readonly unknown[] }[], common: BuiltStatement) => {
    if (specs[0]?.queryValues.length || common.identifierIndex != null)
      throw new NotCompilableError('A statement for several rows');
    built = common;
    return { values: [[]] };
  };
  const resource = Object.create(step.resource, {
    executeWithCache: { value: intercept },
    executeWithoutCache: { value: intercept },
  });
  const copy: SelectStep = Object.create(step, {
    resource: { value: resource },
    placeholders: { value: placeholders },
  });
  const [template] = (await copy.execute(executionDetails(values))) as [Template];
  const { text = null, name = '', rawSqlValues = [] } = (built as BuiltStatement | null) ?? {};
  const places = rawSqlValues.map((parameter) => marks.indexOf(parameter));
  return {
    text,
    name,
    parameters: rawSqlValues,
    places: places.every((place) => place === -1) ? [] : places,
    template,
  };
}

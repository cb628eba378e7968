import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import * as dataplanPg from 'postgraphile/@dataplan/pg';
import * as grafast from 'postgraphile/grafast';
import * as pgSql2 from 'postgraphile/pg-sql2';

/**
 * Everything that this package assumes of the internals of Grafast, @dataplan/pg and pg-sql2.
 * Their types do not export it, and any release may change it. `findUnknown.ts` compares it with the libraries that are there.
 */

/** The versions that this package was written for and tested with. */
export const testedVersions = { grafast: '1.1.3', '@dataplan/pg': '1.1.2', 'pg-sql2': '5.0.1' };
export const foundVersions: Readonly<Record<keyof typeof testedVersions, string | undefined>> = {
  grafast: grafast.version,
  '@dataplan/pg': dataplanPg.version,
  'pg-sql2': pgSql2.version,
};

/** The kind of a field: with `?` it may be null or undefined, with `??` it may be absent, too. */
export type Kind =
  `${'string' | 'number' | 'boolean' | 'object' | 'function' | 'array' | 'set' | 'map' | 'any'}${'' | '?' | '??'}`;
/** The kind of each field of a type; TypeScript reports a field without one. */
export type Fields<Type> = { readonly [Field in keyof Type]-?: Kind };

// Steps

/** A step of a finished plan; its class has more, see `fieldsOfClass`. */
export type Step = {
  readonly id: number;
  readonly layerPlan: LayerPlan;
  readonly dependencies: readonly Step[];
  readonly dependents: readonly unknown[];
  readonly dependencyForbiddenFlags: readonly number[];
  readonly dependencyOnReject: readonly unknown[];
  readonly hasSideEffects: boolean;
  readonly isSyncAndSafe: boolean;
  /** The types of objects that it runs for; null for all. */
  polymorphicPaths: ReadonlySet<string> | null;
  /** Whether it is left out for some types of objects of its layer. */
  _isSelectiveStep: boolean;
  unbatchedExecute?(extra: object, ...values: unknown[]): unknown;
};
export const fieldsOfStep: Fields<Step> = {
  ...{ id: 'number', layerPlan: 'object', dependencies: 'array', dependents: 'array' },
  ...{ dependencyForbiddenFlags: 'array', dependencyOnReject: 'array', hasSideEffects: 'boolean' },
  ...{
    isSyncAndSafe: 'boolean',
    polymorphicPaths: 'set?',
    _isSelectiveStep: 'boolean',
    unbatchedExecute: 'function??',
  },
};

/** Flags of a value that is an error, or inhibited; null is neither. */
export const unusable = 1 | 4 | 8 | 16;
/** The flag of null. */
export const orNull = 2;

/** A page of rows: the steps of its arguments by their index in the dependencies. */
export type PagedStep = Step & Paged;
type Paged = {
  readonly firstStepId: number | null;
  readonly lastStepId: number | null;
  readonly offsetStepId: number | null;
  readonly afterStepId: number | null;
  readonly beforeStepId: number | null;
  /** The dependencies that change the statement before it runs. */
  readonly applyDepIds: readonly number[];
  execute(details: ExecutionDetails): unknown;
};
const fieldsOfPaged: Fields<Paged> = {
  ...{ firstStepId: 'number?', lastStepId: 'number?', offsetStepId: 'number?', afterStepId: 'number?' },
  ...{ beforeStepId: 'number?', applyDepIds: 'array', execute: 'function' },
};

/** A statement of its own. */
export type SelectStep = PagedStep & Select;
type Select = {
  readonly mode: string;
  readonly alias: pgSql2.SQL;
  readonly fetchOneExtra: boolean;
  readonly resource: { executeWithCache: unknown; executeWithoutCache: unknown };
  readonly streamDetailsDepIds: readonly number[] | null;
  /** SQL that is known when it is run, such as the call of a function. */
  readonly deferreds: readonly { readonly dependencyIndex: number }[];
  readonly placeholders: readonly Placeholder[];
  /** Aliases in SQL that stand for others. */
  readonly _symbolSubstitutes: Map<symbol, symbol>;
};
export type Placeholder = {
  readonly dependencyIndex: number;
  readonly codec: { toPg(value: unknown): unknown };
  readonly alreadyEncoded: boolean;
};

/** A statement that was made part of another. */
export type InlineStep = PagedStep & Inline;
type Inline = { readonly staticInfo: Pick<SelectStep, 'mode' | 'alias' | '_symbolSubstitutes'> };

/** A row; null if it is joined, and all nulls or without its check column. */
export type RowStep = { readonly nullCheckAttributeIndex: number | null; readonly _coalesceToEmptyObject: boolean };
/** A column, or any other expression, of a row. */
export type ColumnStep = { readonly attrIndex: number | null; readonly pgCodec: { fromPg(text: string): unknown } };
export type ConstantStep = { readonly data: unknown };
export type ConnectionStep = {
  readonly neededCollection: boolean;
  readonly collectionDepId: number;
  readonly paramsDepId: number | null;
  readonly _mightStream: boolean | null;
};
/** A call of a function, which may have hints for compilation. */
export type LambdaStep = {
  readonly fn: ((value: unknown) => unknown) & {
    /** It may throw, but never gives a promise. */
    readonly isSync?: boolean;
    /** It encodes `[type, …key]` as an id; if the key is one UUID, as base64url of `type:uuid`. */
    readonly encodesNodeId?: boolean;
  };
};

/** The classes of which a step is computed, or its value used, by the fields that only it has. */
export const fieldsOfClass = {
  ...{ ConstantStep: { data: 'any?' } satisfies Fields<ConstantStep>, AccessStep: {}, ObjectStep: {}, ListStep: {} },
  ...{ BakedInputStep: {}, __InputDefaultStep: {}, __InputObjectStep: {}, ApplyInputStep: {} },
  ...{ FirstStep: {}, LastStep: {}, EdgeStep: {} },
  ...{ PageInfoStep: {}, ConnectionItemsStep: {}, PgFromExpressionStep: {}, PgSelectRowsStep: {}, PgCursorStep: {} },
  ConnectionStep: {
    ...{ neededCollection: 'boolean', collectionDepId: 'number?', paramsDepId: 'number?', _mightStream: 'boolean?' },
  } satisfies Fields<ConnectionStep>,
  LambdaStep: { fn: 'function' } satisfies Fields<LambdaStep>,
  PgClassExpressionStep: { attrIndex: 'number?', pgCodec: 'object' } satisfies Fields<ColumnStep>,
  PgSelectSingleStep: {
    ...{ nullCheckAttributeIndex: 'number?', _coalesceToEmptyObject: 'boolean' },
  } satisfies Fields<RowStep>,
  PgSelectInlineApplyStep: { ...fieldsOfPaged, staticInfo: 'object' } satisfies Fields<Paged & Inline>,
  PgSelectStep: {
    ...fieldsOfPaged,
    ...{ mode: 'string', alias: 'object', fetchOneExtra: 'boolean', resource: 'object', streamDetailsDepIds: 'array?' },
    ...{ deferreds: 'array', placeholders: 'array', _symbolSubstitutes: 'map' },
  } satisfies Fields<Paged & Select>,
} as const;
export type StepClass = keyof typeof fieldsOfClass;
export const { LambdaStep: LambdaStepClass } = grafast;
export const { PgSelectStep: SelectStepClass } = dataplanPg;

/** A step's class by its name: not all of them are exported. */
export const classOf = (step: Step): string => step.constructor.name;

/** The functions of @dataplan/pg that take rows from the cells of others, by the name of each. */
export const rowParserNames = ['pgInlineViaSubqueryTransform', 'pgInlineViaJoinTransform'] as const;

/** How PgSelectStep describes a cursor: its order's digest, and where its values are in a row. */
export type CursorDetails = {
  readonly digest: string;
  readonly indicies: readonly {
    readonly index: number;
    readonly codec: { fromPg(text: string | undefined): unknown };
  }[];
};

/** The statement that PgSelectStep's `execute` passes to its resource. */
export type BuiltStatement = {
  readonly text: string;
  readonly name?: string;
  readonly rawSqlValues: readonly unknown[];
  readonly identifierIndex: number | null;
};

type ExecutionDetails = {
  readonly count: 1;
  readonly indexMap: <T>(callback: (index: number) => T) => T[];
  readonly values: readonly unknown[];
  readonly extra: object;
  readonly stream: null;
};

export const executionDetails = (values: readonly unknown[]): ExecutionDetails => ({
  count: 1,
  indexMap: (callback) => [callback(0)],
  values: values.map((value) => ({ isBatch: false, at: () => value, unaryValue: () => value, _flagsAt: () => 0 })),
  extra: {},
  stream: null,
});

// Plans

export type OperationPlan = {
  readonly operation: grafast.OperationPlan['operation'];
  readonly rootLayerPlan: LayerPlan;
  readonly rootOutputPlan: OutputPlan;
  readonly variableValuesStep: Step;
  readonly contextStep: Step;
  readonly variableValuesConstraints: readonly unknown[];
  readonly contextConstraints: readonly unknown[];
  getStepsByStepClass(stepClass: unknown): readonly unknown[];
};
export const fieldsOfPlan: Fields<OperationPlan> = {
  ...{ operation: 'object', rootLayerPlan: 'object', rootOutputPlan: 'object', variableValuesStep: 'object' },
  ...{ contextStep: 'object', variableValuesConstraints: 'array', contextConstraints: 'array' },
  getStepsByStepClass: 'function',
};

export const internalsOf = (plan: grafast.OperationPlan): OperationPlan => plan as unknown as OperationPlan;

export const stepsOf = (plan: grafast.OperationPlan): readonly Step[] =>
  internalsOf(plan).getStepsByStepClass(grafast.Step) as readonly Step[];

/** Where the number of objects changes: each item of a list, each that is not null, each of a type. */
export type LayerPlan = {
  readonly id: number;
  readonly reason: {
    readonly type: string;
    readonly parentLayerPlan?: LayerPlan;
    /** The layers that a combined layer is made of. */
    readonly parentLayerPlans?: readonly LayerPlan[];
    /** The paths of a polymorphic layer. */
    readonly polymorphicPaths?: ReadonlySet<string>;
    readonly parentStep?: Step;
    readonly typeNames?: readonly string[];
    readonly stream?: unknown;
  };
  readonly rootStep: Step | null;
  readonly children: readonly LayerPlan[];
  /** Its steps in the order in which they run. */
  readonly phases: readonly { readonly _allSteps: readonly Step[] }[];
};
export const fieldsOfLayer: Fields<LayerPlan> = {
  ...{ id: 'number', reason: 'object', rootStep: 'object?', children: 'array', phases: 'array' },
};

/** How values become JSON. */
export type OutputPlan = {
  readonly type: {
    readonly mode: string;
    readonly typeName?: string;
    readonly hasRootBehavior?: boolean;
    readonly graphqlType?: { readonly serialize: (value: unknown) => unknown };
  };
  readonly rootStep: Step;
  readonly layerPlan: LayerPlan;
  readonly processRoot: unknown;
  readonly keys: Readonly<Record<string, OutputKey>>;
  readonly child: OutputPlan | null;
  readonly childIsNonNull: boolean;
  readonly childByTypeName: Readonly<Record<string, OutputPlan>> | undefined;
  readonly deferredOutputPlans: readonly OutputPlan[];
  executeString: Output<string>;
};
export const fieldsOfOutput: Fields<OutputPlan> = {
  ...{ type: 'object', rootStep: 'object', layerPlan: 'object', processRoot: 'any?', keys: 'object', child: 'object?' },
  ...{ childIsNonNull: 'boolean', childByTypeName: 'object?', deferredOutputPlans: 'array', executeString: 'function' },
};

export type Output<Result> = (this: OutputPlan, root: PayloadRoot, ...rest: unknown[]) => Result;

/** The state of an answer while it is written. */
export type PayloadRoot = {
  /** `HALT`: the first error ends the answer. */
  errorBehavior: string;
};

export type OutputKey =
  | { readonly type: '__typename' }
  | { readonly type: 'outputPlan'; readonly outputPlan: OutputPlan; readonly isNonNull: boolean };

/** Whether a plan that was made for some variables fits others; in a file that Grafast does not export. */
export const matchesConstraints = requireFromGrafast('constraints.js').matchesConstraints as (
  constraints: readonly unknown[],
  values: unknown,
) => boolean;

function requireFromGrafast(file: string): Record<string, unknown> {
  const require = createRequire(import.meta.url);
  // The one that comes with PostGraphile.
  const library = 'grafast';
  try {
    const path = createRequire(require.resolve('postgraphile')).resolve(library);
    return require(join(dirname(path), file));
  } catch {
    return {};
  }
}

// Nodes of pg-sql2

export type SqlNode = {
  readonly t?: string;
  readonly n?: readonly SqlNode[] | string;
  readonly s?: symbol;
  readonly v?: unknown;
  readonly c?: SqlNode;
};

const [typeKey] = Object.getOwnPropertySymbols(pgSql2.sql.value(null)) as [symbol];

export const kindOf = (node: SqlNode): string => (node as Record<symbol, string>)[typeKey] as string;

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { version as dataplanPgVersion } from 'postgraphile/@dataplan/pg';
import * as grafast from 'postgraphile/grafast';
import { type SQL, sql } from 'postgraphile/pg-sql2';

/** The versions that compilation was written for, and compared with. */
const versions = { grafast: '1.1.3', '@dataplan/pg': '1.1.2' };

/** Which library is not of the version that compilation knows; null when all are. */
export function findOtherVersion(): string | null {
  const found = { grafast: grafast.version, '@dataplan/pg': dataplanPgVersion };
  for (const [library, version] of Object.entries(found)) {
    const known = versions[library as keyof typeof versions];
    if (version !== known) return `${library} is ${version} and not ${known}`;
  }
  return null;
}

// Internals of the libraries, which their types do not export.

/** A step of a finished plan; its class has more, which the compiler of that class knows. */
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

/** A page of rows: the steps of its arguments by their index in the dependencies. */
export type PagedStep = Step & {
  readonly firstStepId: number | null;
  readonly lastStepId: number | null;
  readonly offsetStepId: number | null;
  readonly afterStepId: number | null;
  readonly beforeStepId: number | null;
  /** What changes the statement before it is run. */
  readonly applyDepIds: readonly number[];
  execute(details: ExecutionDetails): unknown;
};

/** A statement of its own. */
export type SelectStep = PagedStep & {
  readonly mode: string;
  readonly alias: SQL;
  readonly fetchOneExtra: boolean;
  readonly contextId: number;
  readonly resource: object;
  readonly streamDetailsDepIds: readonly number[] | null;
  /** SQL that is known when it is run, such as the call of a function. */
  readonly deferreds: readonly { readonly dependencyIndex: number }[];
  readonly placeholders: readonly Placeholder[];
};

export type Placeholder = {
  readonly dependencyIndex: number;
  readonly codec: { toPg(value: unknown): unknown };
  readonly alreadyEncoded: boolean;
};

/** A statement that was made part of another. */
export type InlineStep = PagedStep & { readonly staticInfo: Pick<SelectStep, 'mode' | 'alias'> };

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

/** Where the number of objects changes: each item of a list, each that is not null, each of a type. */
export type LayerPlan = {
  readonly id: number;
  readonly reason: {
    readonly type: string;
    readonly parentLayerPlan?: LayerPlan;
    /** Of a layer that is combined from several. */
    readonly parentLayerPlans?: readonly LayerPlan[];
    /** Of a polymorphic layer. */
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

/** The paths of the objects of a layer; null where none of the layers above is polymorphic. */
export function polymorphicPathsOf({ reason }: LayerPlan): ReadonlySet<string> | null {
  if (reason.polymorphicPaths) return reason.polymorphicPaths;
  if (reason.parentLayerPlans)
    return new Set(reason.parentLayerPlans.flatMap((each) => [...(polymorphicPathsOf(each) ?? [])]));
  return reason.parentLayerPlan ? polymorphicPathsOf(reason.parentLayerPlan) : null;
}

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

export type Output<Result> = (this: OutputPlan, root: PayloadRoot, ...rest: unknown[]) => Result;

/** The state of an answer while it is written. */
export type PayloadRoot = {
  /** `HALT`: the first error ends the answer. */
  errorBehavior: string;
};

export type OutputKey =
  | { readonly type: '__typename' }
  | { readonly type: 'outputPlan'; readonly outputPlan: OutputPlan; readonly isNonNull: boolean };

/** Flags of a value that is an error, or inhibited; null is neither. */
export const unusable = 1 | 4 | 8 | 16;
/** The flag of null. */
export const orNull = 2;

/** An output plan and all below it. */
export function outputPlansOf(plan: OutputPlan): readonly OutputPlan[] {
  return [plan, ...childrenOf(plan).flatMap(outputPlansOf)];
}

function childrenOf({ child, keys, childByTypeName, deferredOutputPlans }: OutputPlan): OutputPlan[] {
  const members = Object.values(keys).flatMap((key) => (key.type === 'outputPlan' ? [key.outputPlan] : []));
  return [...(child ? [child] : []), ...members, ...Object.values(childByTypeName ?? {}), ...deferredOutputPlans];
}

const require = createRequire(import.meta.url);
// The one that comes with PostGraphile.
const library = 'grafast';
const grafastFile = createRequire(require.resolve('postgraphile')).resolve(library);

/** Grafast's: whether a plan that was made for some variables fits others. */
export const { matchesConstraints } = require(join(dirname(grafastFile), 'constraints.js')) as {
  matchesConstraints(constraints: readonly unknown[], values: unknown): boolean;
};

/** A node of pg-sql2. */
export type SqlNode = {
  readonly t?: string;
  readonly n?: readonly SqlNode[] | string;
  readonly s?: symbol;
  readonly v?: unknown;
  readonly c?: SqlNode;
};

const [typeKey] = Object.getOwnPropertySymbols(sql.value(null)) as [symbol];

export const kindOf = (node: SqlNode): string => (node as Record<symbol, string>)[typeKey] as string;

/** The same node with other nodes in it. */
export const withNodes = (node: SqlNode, inner: Pick<SqlNode, 'n' | 'c'>): SqlNode =>
  Object.assign(Object.create(Object.getPrototypeOf(node)), node, inner);

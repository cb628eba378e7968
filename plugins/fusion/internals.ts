import { version as dataplanPgVersion } from 'postgraphile/@dataplan/pg';
import * as grafast from 'postgraphile/grafast';

/** The versions that fusion was written for, and compared with. */
const versions = { grafast: '1.1.3', '@dataplan/pg': '1.1.2' };

/** Which library is not of the version that fusion knows; null when all are. */
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
  readonly implicitSideEffectStep: Step | null;
  readonly isSyncAndSafe: boolean;
  readonly polymorphicPaths: ReadonlySet<string> | null;
  /** Whether it is left out for some types of objects of its layer. */
  readonly _isSelectiveStep: boolean;
  unbatchedExecute?(extra: object, ...values: unknown[]): unknown;
};

export type OperationPlan = {
  readonly rootLayerPlan: LayerPlan;
  readonly rootOutputPlan: OutputPlan;
  getStepsByStepClass(stepClass: unknown): readonly unknown[];
};

/** Where the number of objects changes: each item of a list, each that is not null, each of a type. */
export type LayerPlan = {
  readonly id: number;
  readonly reason: {
    readonly type: string;
    readonly parentLayerPlan?: LayerPlan;
    readonly parentStep?: Step;
    readonly typeNames?: readonly string[];
    readonly stream?: unknown;
  };
  readonly rootStep: Step | null;
  /** What it takes over from the layer above. */
  readonly copyStepIds: readonly number[];
  readonly children: readonly LayerPlan[];
  readonly parentSideEffectStep: Step | null;
  newBucket(parent: Bucket): Bucket | null;
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
  readonly sideEffectStep: Step | null;
  readonly processRoot: unknown;
  readonly keys: Readonly<Record<string, OutputKey>>;
  readonly child: OutputPlan | null;
  readonly childIsNonNull: boolean;
  readonly childByTypeName: Readonly<Record<string, OutputPlan>> | undefined;
  readonly deferredOutputPlans: readonly OutputPlan[];
  execute: Output<unknown>;
  executeString: Output<string>;
};

export type Output<Result> = (
  this: OutputPlan,
  root: PayloadRoot,
  path: unknown,
  bucket: Bucket,
  index: number,
  ...rest: unknown[]
) => Result;

/** The state of an answer while it is written. */
export type PayloadRoot = {
  /** `HALT`: the first error ends the answer. */
  errorBehavior: string;
};

export type OutputKey =
  | { readonly type: '__typename' }
  | { readonly type: 'outputPlan'; readonly outputPlan: OutputPlan; readonly isNonNull: boolean };

/** The computed values for the objects of a layer. */
export type Bucket = {
  readonly size: number;
  /** Shared by the buckets of an operation, or of a field of a mutation. */
  readonly sharedState: object;
  /** {@link ExecutionValue}s by the steps' ids. */
  readonly store: Map<unknown, unknown>;
};

export type ExecutionValue = { at(index: number): unknown; _flagsAt(index: number): number };

/** Flags of a value that is an error, or inhibited; null is neither. */
export const unusable = 1 | 4 | 8 | 16;

/** An output plan and all below it. */
export function outputPlansOf(plan: OutputPlan): readonly OutputPlan[] {
  return [plan, ...childrenOf(plan).flatMap(outputPlansOf)];
}

export function childrenOf({ child, keys, childByTypeName, deferredOutputPlans }: OutputPlan): OutputPlan[] {
  const members = Object.values(keys).flatMap((key) => (key.type === 'outputPlan' ? [key.outputPlan] : []));
  return [...(child ? [child] : []), ...members, ...Object.values(childByTypeName ?? {}), ...deferredOutputPlans];
}

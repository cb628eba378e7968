import { type OperationPlan as GrafastOperationPlan, Step as GrafastStep } from 'postgraphile/grafast';
import { polymorphicPathsOf, type Step } from './compilation/internals.ts';

/**
 * Repair of plans of polymorphic positions: each step runs wherever a step that depends on it runs.
 *
 * Grafast skips a step for objects of types that are not among its `polymorphicPaths`, and with it all that depends on it. It makes plans in
 * which a step has fewer paths than one that depends on it: a select that the types of an interface share depends on what is inlined into it
 * for each of them, and a step that is pushed down into a nested polymorphic layer keeps the paths of the outer one. Then a page without
 * objects of one type failed: "Cannot return null for non-nullable field CardAssignment.user".
 *
 * Seen in grafast 1.1.3; `test/graphql/polymorphicPaths.test.ts` has the reproduction, and fails when a release mends it.
 */
export const PolymorphicPathsPlugin: GraphileConfig.Plugin = {
  name: 'PolymorphicPathsPlugin',

  grafast: {
    middleware: {
      establishOperationPlan(next) {
        const plan = next();
        if (!repaired.has(plan)) extendPaths(plan);
        repaired.add(plan);
        return plan;
      },
    },
  },
};

/** Plans are cached. */
const repaired = new WeakSet<GrafastOperationPlan>();

function extendPaths(plan: GrafastOperationPlan): void {
  const steps = plan.getStepsByStepClass(GrafastStep) as unknown as readonly Step[];
  const pending = steps.filter(({ polymorphicPaths }) => polymorphicPaths !== null);
  // A step whose paths were extended may extend those of its own dependencies.
  for (let step = pending.pop(); step; step = pending.pop()) {
    for (const dependency of step.dependencies) if (extendPathsOf(dependency, step)) pending.push(dependency);
  }
}

/** Returns whether that added any. */
function extendPathsOf(dependency: Step, { polymorphicPaths: needed }: Step): boolean {
  const { polymorphicPaths, layerPlan } = dependency;
  const ofLayer = polymorphicPathsOf(layerPlan);
  if (!polymorphicPaths || !needed || !ofLayer) return false;
  const missing = [...ofLayer].filter((path) => !polymorphicPaths.has(path) && isAbove(path, needed));
  if (missing.length === 0) return false;
  dependency.polymorphicPaths = new Set([...polymorphicPaths, ...missing]);
  dependency._isSelectiveStep = !isEvery(ofLayer, dependency.polymorphicPaths);
  return true;
}

/** A path names the types chosen in each polymorphic position, from the outermost on: `>A>B`. */
const isAbove = (path: string, paths: ReadonlySet<string>) =>
  paths.has(path) || [...paths].some((each) => each.startsWith(`${path}>`));

const isEvery = (all: ReadonlySet<string>, among: ReadonlySet<string>) => [...all].every((path) => among.has(path));

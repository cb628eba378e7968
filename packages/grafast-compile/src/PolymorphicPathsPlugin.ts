import type { OperationPlan } from 'postgraphile/grafast';
import { createPlanPlugin } from './createPlanPlugin.ts';
import { type Step, stepsOf } from './internals.ts';
import { polymorphicPathsOf } from './plans.ts';

/**
 * Repair of plans of polymorphic positions: each step runs wherever a step that depends on it runs.
 *
 * Grafast skips a step for objects of types that are not among its `polymorphicPaths`, and all steps that depend on it. It makes plans in
 * which a step has fewer paths than one that depends on it:
 *
 * - A select that the types of an interface share depends on the steps that are inlined into it for each type.
 * - A step that is pushed down into a nested polymorphic layer keeps the paths of the outer one.
 * - A step within an object, such as a bound of a range in a field of an interface, keeps the paths of the layer outside the interface.
 *
 * In the first two cases a page without objects of one type failed: "Cannot return null for non-nullable field CardAssignment.user". In the
 * last one, below `node`, the step ran for no object at all.
 *
 * Seen in grafast 1.1.3; `test/graphql/polymorphicPaths.test.ts` has the reproduction, and fails when a release mends it.
 */
export const PolymorphicPathsPlugin = createPlanPlugin('PolymorphicPathsPlugin', extendPaths);

function extendPaths(plan: OperationPlan): void {
  const pending = stepsOf(plan).filter(({ polymorphicPaths }) => polymorphicPaths !== null);
  for (const step of pending) extendInto(step);
  // A step whose paths were extended may extend those of its own dependencies.
  for (let step = pending.pop(); step; step = pending.pop()) {
    for (const dependency of step.dependencies) if (extendPathsOf(dependency, step)) pending.push(dependency);
  }
}

/**
 * A step of a nested layer runs for all types below the paths that the outer layer gave it.
 * It stands in an object that a field of an interface has.
 */
function extendInto(step: Step): void {
  const outer = step.polymorphicPaths ?? new Set();
  addPaths(step, (path) => [...outer].some((each) => path.startsWith(`${each}>`)));
}

/** Returns whether that added any. */
function extendPathsOf(dependency: Step, { polymorphicPaths: needed }: Step): boolean {
  return needed !== null && addPaths(dependency, (path) => isAbove(path, needed));
}

/** Adds the paths of its layer that the step lacks and needs. Returns whether there were any. */
function addPaths(step: Step, isNeeded: (path: string) => boolean): boolean {
  const { polymorphicPaths, layerPlan } = step;
  const ofLayer = polymorphicPathsOf(layerPlan);
  if (!polymorphicPaths || !ofLayer) return false;
  const missing = [...ofLayer].filter((path) => !polymorphicPaths.has(path) && isNeeded(path));
  if (missing.length === 0) return false;
  step.polymorphicPaths = new Set([...polymorphicPaths, ...missing]);
  step._isSelectiveStep = !isEvery(ofLayer, step.polymorphicPaths);
  return true;
}

/** A path names the types chosen in each polymorphic position, from the outermost on: `>A>B`. */
const isAbove = (path: string, paths: ReadonlySet<string>) =>
  paths.has(path) || [...paths].some((each) => each.startsWith(`${path}>`));

const isEvery = (all: ReadonlySet<string>, among: ReadonlySet<string>) => [...all].every((path) => among.has(path));

import type { Step } from 'postgraphile/grafast';
import { wrapPlans } from 'postgraphile/utils';
import { selectOf } from './selectOf.ts';

/** Levels of `children`, or of `parent`, that one statement reads. */
export const levelsPerStatement = 8;

/**
 * Lets `children` nest to any depth: every eighth level begins a statement of its own.
 * A nested connection is read inside its parent's statement, as text escaped once more per level, so that its size doubles with each.
 */
export const ChildrenPlugin: GraphileConfig.Plugin = wrapPlans({
  Unit: {
    children(plan, $unit) {
      const $connection = plan();
      if (layersAbove($unit) % levelsPerStatement === 0) selectOf($connection).setInliningForbidden();
      return $connection;
    },
  },
});

/** The layers above: one for each list of nodes or edges. Grafast knows them but does not publish them. */
function layersAbove($step: Step): number {
  return ($step as Step & { layerPlan: { ancestry: readonly unknown[] } }).layerPlan.ancestry.length;
}

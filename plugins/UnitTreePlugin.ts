import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import type { Step } from 'postgraphile/grafast';
import { wrapPlans } from 'postgraphile/utils';
import { layersAbove, selectOf } from './internals.ts';

/** Levels of `children`, or of `parent`, that one statement reads. */
const levelsPerStatement = 8;

/**
 * The tree of units, nested to any depth: every eighth level begins a statement of its own.
 * A nested connection is read inside its parent's statement, as text escaped once more per level, so that its size doubles with each.
 * Each `parent` is one more join of the statement, which PostgreSQL takes long to plan.
 */
export const UnitTreePlugin: GraphileConfig.Plugin = wrapPlans({
  Unit: {
    children(plan, $unit) {
      const $connection = plan();
      if (layersAbove($unit) % levelsPerStatement === 0) selectOf($connection).setInliningForbidden();
      return $connection;
    },
    parent(plan, $unit) {
      const $parent = plan() as unknown as PgSelectSingleStep;
      const height = (parentsBelow.get($unit) ?? 0) + 1;
      parentsBelow.set($parent, height);
      if (height % levelsPerStatement === 0) $parent.getClassStep().setInliningForbidden();
      return $parent;
    },
  },
});

/** How many parents in a row led to this unit. */
const parentsBelow = new WeakMap<Step, number>();

import type { PgSelectSingleStep } from 'postgraphile/@dataplan/pg';
import type { Step } from 'postgraphile/grafast';
import { wrapPlans } from 'postgraphile/utils';
import { levelsPerStatement } from './ChildrenPlugin.ts';

/** How many parents in a row led to this unit. */
const parentsBelow = new WeakMap<Step, number>();

/**
 * Lets `parent` be nested to any height: every eighth begins a statement of its own.
 * Each is one more join of the statement, and PostgreSQL takes ten seconds to plan three hundred of them.
 */
export const ParentPlugin: GraphileConfig.Plugin = wrapPlans({
  Unit: {
    parent(plan, $unit) {
      const $parent = plan() as unknown as PgSelectSingleStep;
      const height = (parentsBelow.get($unit) ?? 0) + 1;
      parentsBelow.set($parent, height);
      if (height % levelsPerStatement === 0) $parent.getClassStep().setInliningForbidden();
      return $parent;
    },
  },
});

import { sql } from 'postgraphile/pg-sql2';
import { wrapPlans } from 'postgraphile/utils';
import { selectOf } from './selectOf.ts';

/**
 * Filters `App.rootUnits` to units without a parent.
 * A comment can relate tables by equal columns only; a function could not both be inlined into the statement and pin its search path.
 */
export const RootUnitsPlugin: GraphileConfig.Plugin = wrapPlans({
  App: {
    rootUnits(plan) {
      const $connection = plan();
      const $units = selectOf($connection);
      $units.where(sql`${$units.alias}.parent_id is null`);
      return $connection;
    },
  },
});

import { sql } from 'postgraphile/pg-sql2';
import { wrapPlans } from 'postgraphile/utils';
import { selectOf } from './selectOf.ts';

declare global {
  namespace GraphileConfig {
    interface Plugins {
      RootUnitsPlugin: true;
    }
  }
}

/**
 * Leaves in `App.rootUnits` those units that have no parent. A comment can relate tables by columns that are equal, and no
 * more; a function could say it in SQL, but could not both be merged into the statement and pin its search path.
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

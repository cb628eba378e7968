import { planningMs } from '../document/plans.ts';
import { isQueryOf, type Operation } from '../execution/operation.ts';

/**
 * Planning takes longer with more objects, the answer with more rows and values, a sync with more rows.
 *
 * @param maxPlanningMs a neighbour's request waits as long for one plan at each of its steps, of which there are three
 */
export function isExpensive({ prepared, cost, writtenRows }: Operation, maxPlanningMs = 20): boolean {
  const { size } = prepared;
  if (size.fields > 200 || planningMs(size, !isQueryOf(prepared)) > maxPlanningMs) return true;
  return cost.rows > 3000 || cost.values > 5000 || writtenRows > maxWrittenRows;
}

/** Sealing and answering 1,000 rows of a sync takes tens of milliseconds. */
const maxWrittenRows = 100;

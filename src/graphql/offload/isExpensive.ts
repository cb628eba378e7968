import { planningMs } from '../document/plans.ts';
import { isQueryOf, type Operation } from '../execution/operation.ts';

/**
 * Whether the offload thread is to execute an operation, since it would delay others in the main thread.
 * Planning takes longer with more objects, the answer with more rows and values, a sync with more rows.
 *
 * @param maxPlanningMs a neighbour's request waits as long for one plan at each of its steps, of which there are three
 */
export function isExpensive(operation: Operation, maxPlanningMs = 20): boolean {
  const { prepared, writtenRows } = operation;
  const isLongToPlan = planningMs(prepared.size, !isQueryOf(prepared)) > maxPlanningMs;
  return isLongToPlan || writtenRows > maxWrittenRows || isHuge(operation);
}

/** Whether it would delay others so much that it waits until the offload thread has started. */
export function isHuge({ prepared: { size }, cost }: Operation): boolean {
  const isHugeToPlan = size.fields > 200 || size.depth * size.connections > 500;
  return isHugeToPlan || cost.rows > 3000 || cost.values > 5000;
}

/** Sealing and answering 1,000 rows of a sync takes tens of milliseconds. */
const maxWrittenRows = 100;

import type { Operation } from '../execution/operation.ts';

/** Planning takes longer with more fields and nested connections, the answer with more rows and values. */
export function isExpensive({ prepared: { size }, cost }: Operation): boolean {
  const isExpensiveToPlan = size.fields > 200 || size.depth * size.connections > 500;
  return isExpensiveToPlan || cost.rows > 3000 || cost.values > 5000;
}

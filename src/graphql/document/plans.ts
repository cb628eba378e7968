import type { GraphQLSchema } from 'postgraphile/graphql';
import { withPlanCache } from '../../../plugins/internals.ts';
import type { Size } from './measureOperations.ts';

/** One operation may need several plans, depending on the values of its variables. */
const plansOfOneOperation = 3;

/** Grafast requires at least two. */
const operationsOfOneDocument = 2;

/**
 * A copy of the schema with an isolated plan cache, which is freed with its document.
 * Grafast keeps the plans of a schema's last 500 operations, however large. This way the limit on documents limits the plans.
 */
export const withIsolatedPlanCache = (schema: GraphQLSchema): GraphQLSchema =>
  withPlanCache(schema, { operations: operationsOfOneDocument, plansOfOperation: plansOfOneOperation });

/** Estimates the memory of a document's plans from the sizes of its operations, as measured. */
export function bytesOfPlans(sizes: Iterable<Size>): number {
  const largest = [...sizes].map(bytesOfPlan).toSorted((a, b) => b - a);
  return largest.slice(0, operationsOfOneDocument).reduce((sum, bytes) => sum + bytes, 0);
}

const bytesOfPlan = ({ fields, connections, directives }: Size) =>
  (100_000 + 11_000 * fields + 25_000 * connections) * (directives > 0 ? plansOfOneOperation : 1);

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

/**
 * Estimates how long planning an operation takes, with compiling it, in milliseconds of a thread.
 * Objects predict it: each is a step of a plan, or several. Of 28 measured documents, 26 took 0.6 to 1.4 times as long.
 * Selections that Grafast merges took a third, and four `node`s 2.4 times as long. A mutation is planned field by field.
 */
export const planningMs = ({ objects, fields, rootFields }: Size, isMutation = false): number =>
  2 + (0.65 * objects + 0.03 * fields) / (isMutation ? Math.max(1, rootFields) : 1);

const bytesOfPlan = ({ fields, connections, directives }: Size) =>
  (100_000 + 11_000 * fields + 25_000 * connections) * (directives > 0 ? plansOfOneOperation : 1);

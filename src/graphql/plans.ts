import type { GraphQLSchema } from 'postgraphile/graphql';
import type { Size } from './limits.ts';

/** By the values of its variables one operation may need several plans. */
const plansOfOneOperation = 3;

/** Grafast wants two at least. */
const operationsOfOneDocument = 2;

/**
 * The schema, differing in nothing but that it has plans of its own, which go when it goes. Grafast keeps the plans of a schema's
 * last 500 operations, however large; so each document has such a schema, and whoever bounds the documents bounds the plans.
 */
export function withPlansOfItsOwn(schema: GraphQLSchema): GraphQLSchema {
  const grafast = {
    ...schema.extensions.grafast,
    operationsCacheMaxLength: operationsOfOneDocument,
    operationOperationPlansCacheMaxLength: plansOfOneOperation,
  };
  return Object.create(schema, { extensions: { value: { ...schema.extensions, grafast } } });
}

/** The memory that the plans of a document with operations of these sizes take, in bytes: what was measured, roughly. */
export function bytesOfPlans(sizes: Iterable<Size>): number {
  const largest = [...sizes].map(bytesOfPlan).toSorted((a, b) => b - a);
  return largest.slice(0, operationsOfOneDocument).reduce((sum, bytes) => sum + bytes, 0);
}

const bytesOfPlan = ({ fields, connections, directives }: Size) =>
  (100_000 + 11_000 * fields + 25_000 * connections) * (directives > 0 ? plansOfOneOperation : 1);

import { createHash } from 'node:crypto';
import type { PgSelectStep } from 'postgraphile/@dataplan/pg';
import type { ConnectionStep, Step } from 'postgraphile/grafast';
import type { GraphQLSchema } from 'postgraphile/graphql';
import { type SQL, sql } from 'postgraphile/pg-sql2';

/**
 * Everything that the application itself assumes of the internals of Grafast and @dataplan/pg.
 * `test/internals/grafast.test.ts` notices when a release no longer holds it. Compilation assumes much more, and checks it at the start:
 * packages/grafast-compile/src/internals.ts.
 */

/** The layers above a step: one for each list of nodes or edges. */
export function layersAbove($step: Step): number {
  return ($step as Step & { layerPlan: { ancestry: readonly unknown[] } }).layerPlan.ancestry.length;
}

/** Selects an expression beside the rows of a statement, and returns its index in each row. */
export function selectCell($rows: PgSelectStep, expression: SQL): number {
  return ($rows as PgSelectStep & { selectAndReturnIndex(expression: SQL): number }).selectAndReturnIndex(expression);
}

/** The digest that @dataplan/pg's cursors begin with, of an order's SQL. */
export function digestOfOrder(fragments: readonly SQL[]): string {
  const texts = fragments.map((fragment) => sql.compile(fragment).text);
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 10);
}

/** How a row without a key is named in a cursor: by its number. */
export const naturalOrder = 'natural';

/**
 * A copy of the schema with an isolated plan cache, which is freed with it.
 * Grafast keeps plans in the schema's extensions, under a symbol, and reads the sizes of its caches there.
 */
export function withPlanCache(
  schema: GraphQLSchema,
  { operations, plansOfOperation }: { readonly operations: number; readonly plansOfOperation: number },
): GraphQLSchema {
  const grafast = {
    // Without symbols: a schema whose operations were executed has a cache of its own.
    ...Object.fromEntries(Object.entries(schema.extensions.grafast ?? {})),
    operationsCacheMaxLength: operations,
    operationOperationPlansCacheMaxLength: plansOfOperation,
  };
  return Object.create(schema, { extensions: { value: { ...schema.extensions, grafast } } });
}

/** The statement behind a connection that PostGraphile planned for a table or a function. */
export function selectOf($connection: Step): PgSelectStep {
  return ($connection as ConnectionStep<unknown>).getSubplan() as unknown as PgSelectStep;
}

import type { GraphQLSchema, GraphQLSchemaConfig } from 'postgraphile/graphql';
import type { CompiledOperations } from './CompiledOperations.ts';

/** The state that this package keeps in a schema's extensions, from the time when it is built. */
export type SchemaState = {
  /** Null when Grafast executes every operation. */
  readonly operations: CompiledOperations | null;
  /** Whether plans have the shape that repairs and the byte limit rest on. */
  readonly hasKnownPlans: boolean;
};

export const withState = (schema: GraphQLSchemaConfig, state: SchemaState): GraphQLSchemaConfig => ({
  ...schema,
  extensions: Object.assign({}, schema.extensions, { [key]: state }),
});

export const operationsOf = ({ extensions }: GraphQLSchema): CompiledOperations | null =>
  (extensions[key] as SchemaState | undefined)?.operations ?? null;

export const hasKnownPlans = ({ extensions }: GraphQLSchema): boolean =>
  (extensions[key] as SchemaState | undefined)?.hasKnownPlans ?? true;

const key = 'grafastCompile';

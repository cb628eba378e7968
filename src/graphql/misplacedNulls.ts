import {
  type GraphQLError,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  separateOperations,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import type { PreparedDocument } from './document.ts';
import { graphqlError } from './errors.ts';

/**
 * Rejects null in a nullable variable with a default at a non-null position (GraphQL section 5.8.5).
 * Validation allows such a variable, since only its value decides; Grafast then fails to plan the whole operation, or takes null for true.
 */
export function misplacedNulls(
  schema: GraphQLSchema,
  { document, operation }: PreparedDocument,
  values: Readonly<Record<string, unknown>>,
): GraphQLError[] {
  const definitions = operation.variableDefinitions ?? [];
  const nulls = definitions
    .filter(({ variable, defaultValue }) => defaultValue && values[variable.name.value] === null)
    .map(({ variable }) => variable.name.value);
  if (nulls.length === 0) return [];

  const misplaced = new Set<string>();
  const types = new TypeInfo(schema);
  const selected = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  visit(
    selected,
    visitWithTypeInfo(types, {
      [Kind.VARIABLE]({ name: { value: name } }) {
        if (nulls.includes(name) && isNonNullType(types.getInputType())) misplaced.add(name);
      },
    }),
  );
  return Array.from(misplaced, (argument) =>
    graphqlError('BAD_USER_INPUT', `Variable "$${argument}" cannot be null here.`, { argument }),
  );
}

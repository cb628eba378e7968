import {
  type GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
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
 * One error for each variable that is null or absent where it may not be. Validation lets a nullable one stand there if it has a default
 * (GraphQL section 5.8.5), and as the one field of a `@oneOf` input object that may not be null; only its value tells. Grafast then fails
 * to plan the whole operation, takes null for true, or calls a function without any key.
 */
export function misplacedNulls(
  schema: GraphQLSchema,
  { document, operation }: PreparedDocument,
  values: Readonly<Record<string, unknown>>,
): GraphQLError[] {
  const definitions = operation.variableDefinitions ?? [];
  const nulls = definitions
    .filter(({ variable }) => values[variable.name.value] == null)
    .map(({ variable }) => variable.name.value);
  if (nulls.length === 0) return [];

  const misplaced = new Set<string>();
  const types = new TypeInfo(schema);
  const asked = separateOperations(document)[operation.name?.value ?? ''] ?? document;
  visit(
    asked,
    visitWithTypeInfo(types, {
      [Kind.VARIABLE]({ name: { value: name } }) {
        if (!nulls.includes(name)) return;
        const parent = getNamedType(types.getParentInputType());
        const isOneOf = isInputObjectType(parent) && parent.isOneOf;
        if (isOneOf || isNonNullType(types.getInputType())) misplaced.add(name);
      },
    }),
  );
  return Array.from(misplaced, (argument) =>
    graphqlError('BAD_USER_INPUT', `Variable "$${argument}" cannot be null here.`, { argument }),
  );
}

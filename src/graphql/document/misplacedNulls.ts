import {
  type DocumentNode,
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
import { refusal } from '../../../plugins/refusal.ts';
import type { PreparedDocument } from './document.ts';

/**
 * Rejects null, given or absent, in a nullable variable at a position that takes none.
 * Validation allows such a variable with a default (GraphQL section 5.8.5). It also allows one as a field of a `@oneOf` input object, since
 * only the value decides there. Grafast would then fail to plan the whole operation, take null for true, or call a function without any key.
 */
export function misplacedNulls(
  schema: GraphQLSchema,
  prepared: PreparedDocument,
  values: Readonly<Record<string, unknown>>,
): GraphQLError[] {
  const definitions = prepared.operation.variableDefinitions ?? [];
  const nulls = definitions
    .filter(({ variable }) => values[variable.name.value] == null)
    .map(({ variable }) => variable.name.value);
  if (nulls.length === 0) return [];

  const misplaced = new Map<string, string | undefined>();
  const types = new TypeInfo(schema);
  visit(
    selectedIn(prepared),
    visitWithTypeInfo(types, {
      [Kind.VARIABLE]({ name: { value: name } }) {
        if (!nulls.includes(name) || misplaced.has(name)) return;
        const parent = getNamedType(types.getParentInputType());
        const isOneOf = isInputObjectType(parent) && parent.isOneOf;
        if (isOneOf || isNonNullType(types.getInputType())) misplaced.set(name, types.getArgument()?.name);
      },
    }),
  );
  return Array.from(misplaced, ([variable, argument]) =>
    refusal('BAD_USER_INPUT', `Variable "$${variable}" cannot be null here.`, { argument, variable }),
  );
}

/** The requested operation and the fragments that it uses. */
export const selectedIn = ({ document, operation }: PreparedDocument): DocumentNode =>
  separateOperations(document)[operation.name?.value ?? ''] ?? document;

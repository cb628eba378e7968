import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
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
  const names = definitions.map(({ variable }) => variable.name.value).filter((name) => values[name] == null);
  if (names.length === 0) return [];
  const argumentOf = neededIn(schema, prepared);
  return names
    .filter((name) => argumentOf.has(name))
    .map((variable) =>
      refusal('BAD_USER_INPUT', `Variable "$${variable}" cannot be null here.`, {
        argument: argumentOf.get(variable),
        variable,
      }),
    );
}

/** Memoized, since each request may leave out a variable. */
const neededInOperations = new WeakMap<OperationDefinitionNode, ReadonlyMap<string, string | undefined>>();

/** The variables at a position that takes no null, with its argument. */
function neededIn(schema: GraphQLSchema, prepared: PreparedDocument): ReadonlyMap<string, string | undefined> {
  const known = neededInOperations.get(prepared.operation);
  if (known) return known;
  const needed = new Map<string, string | undefined>();
  const types = new TypeInfo(schema);
  visit(
    selectedIn(prepared),
    visitWithTypeInfo(types, {
      [Kind.VARIABLE]({ name: { value: name } }) {
        if (needed.has(name)) return;
        const parent = getNamedType(types.getParentInputType());
        const isOneOf = isInputObjectType(parent) && parent.isOneOf;
        if (isOneOf || isNonNullType(types.getInputType())) needed.set(name, types.getArgument()?.name);
      },
    }),
  );
  neededInOperations.set(prepared.operation, needed);
  return needed;
}

/** The requested operation and the fragments that it uses. */
export const selectedIn = ({ document, operation }: PreparedDocument): DocumentNode =>
  separateOperations(document)[operation.name?.value ?? ''] ?? document;

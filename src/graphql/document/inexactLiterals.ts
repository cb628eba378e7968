import {
  type DocumentNode,
  type FloatValueNode,
  GraphQLError,
  type GraphQLErrorExtensions,
  GraphQLInt,
  type GraphQLSchema,
  getNullableType,
  type IntValueNode,
  isScalarType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'postgraphile/graphql';
import { isExactNumber, mayBeInexact } from '../../../plugins/isExactNumber.ts';
import { argumentOf } from './argumentOf.ts';

/**
 * Rejects literals that would become another number, even in JSON.
 * A scalar that keeps the digits as they are accepts all of them.
 *
 * @param query the text of the document
 */
export function inexactLiterals(schema: GraphQLSchema, document: DocumentNode, query: string): GraphQLError[] {
  if (!mayBeInexact.test(query)) return [];
  const errors: GraphQLError[] = [];
  const types = new TypeInfo(schema);
  let variable: string | undefined;
  const check = (node: IntValueNode | FloatValueNode) => {
    if (errors.length === maxErrors || isExactNumber(node.value)) return;
    const type = getNullableType(types.getInputType());
    // Validation reports its range.
    if (type === GraphQLInt) return;
    if (isScalarType(type) && keepsText(() => type.parseLiteral(node), node.value)) return;
    const argument = types.getArgument()?.name ?? (variable && argumentOf(variable, document));
    errors.push(inexact(`The document has the number ${shortened(node.value)}`, { argument, variable }, node));
  };
  visit(
    document,
    visitWithTypeInfo(types, {
      [Kind.VARIABLE_DEFINITION]: {
        enter(node) {
          variable = node.variable.name.value;
        },
        leave() {
          variable = undefined;
        },
      },
      [Kind.INT]: check,
      [Kind.FLOAT]: check,
    }),
  );
  return errors;
}

/** How many errors one answer has at most, as for variables in GraphQL.js. */
export const maxErrors = 50;

function keepsText(parse: () => unknown, text: string): boolean {
  try {
    return parse() === text;
  } catch {
    return false;
  }
}

export const shortened = (source: string) => (source.length > 50 ? `${source.slice(0, 50)}…` : source);

/** The error for a number that cannot be used. */
export function inexact(message: string, extensions: GraphQLErrorExtensions, node?: IntValueNode | FloatValueNode) {
  return new GraphQLError(`${message}, which cannot be kept exactly: send it as a string, or round it.`, {
    nodes: node ?? null,
    extensions: { code: 'BAD_USER_INPUT', ...extensions },
  });
}

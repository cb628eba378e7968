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
import { isExactNumber } from '../../../plugins/isExactNumber.ts';
import { argumentOf } from './argumentOf.ts';

/**
 * Rejects literals that become another number, in JSON too.
 * A scalar that takes the digits as they stand keeps them all.
 *
 * @param query the text of the document
 */
export function inexactLiterals(schema: GraphQLSchema, document: DocumentNode, query: string): GraphQLError[] {
  if (!suspicious.test(query)) return [];
  const errors: GraphQLError[] = [];
  const types = new TypeInfo(schema);
  let variable: string | undefined;
  const check = (node: IntValueNode | FloatValueNode) => {
    if (errors.length === maxErrors || isExactNumber(node.value)) return;
    const type = getNullableType(types.getInputType());
    // Validation says of what range it is.
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

/** A number of 16 characters, or with an exponent; others are kept. It may be part of a name. */
const suspicious = /\d(?:[\d.]{15}|[eE])/;

/** That one answer has at most, as of GraphQL.js' errors of variables. */
export const maxErrors = 50;

function keepsText(parse: () => unknown, text: string): boolean {
  try {
    return parse() === text;
  } catch {
    return false;
  }
}

export const shortened = (source: string) => (source.length > 50 ? `${source.slice(0, 50)}…` : source);

/** Says that a number is none that can be used. */
export function inexact(message: string, extensions: GraphQLErrorExtensions, node?: IntValueNode | FloatValueNode) {
  return new GraphQLError(`${message}, which cannot be kept exactly: send it as a string, or round it.`, {
    nodes: node ?? null,
    extensions: { code: 'BAD_USER_INPUT', ...extensions },
  });
}

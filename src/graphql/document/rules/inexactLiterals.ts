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
import { isExactNumber, mayBeInexact } from '../../../../plugins/values.ts';
import { ErrorList, shortened } from '../documentError.ts';

/**
 * Rejects literals that would become another number, even in JSON.
 * A scalar that keeps the digits as they are accepts all of them.
 *
 * @param query the text of the document
 * @throws {DocumentError} `BAD_USER_INPUT`
 */
export function refuseInexactLiterals(schema: GraphQLSchema, document: DocumentNode, query: string): void {
  if (!mayBeInexact.test(query)) return;
  const errors = new ErrorList();
  const types = new TypeInfo(schema);
  let variable: string | undefined;
  const check = (node: IntValueNode | FloatValueNode) => {
    if (isExactNumber(node.value)) return;
    const type = getNullableType(types.getInputType());
    // Validation reports its range, that of a domain over it, too.
    if (isScalarType(type) && type.parseLiteral === GraphQLInt.parseLiteral) return;
    if (isScalarType(type) && keepsText(() => type.parseLiteral(node), node.value)) return;
    const argument = types.getArgument()?.name;
    const defaultOf = variable;
    errors.addDear(() => {
      const names = { argument: argument ?? (defaultOf && argumentOf(defaultOf, document)), variable: defaultOf };
      return inexact(`The document has the number ${shortened(node.value)}`, names, node);
    });
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
  errors.throwIfAny();
}

function keepsText(parse: () => unknown, text: string): boolean {
  try {
    return parse() === text;
  } catch {
    return false;
  }
}

/** The error for a number that cannot be used. */
export function inexact(message: string, extensions: GraphQLErrorExtensions, node?: IntValueNode | FloatValueNode) {
  return new GraphQLError(`${message}, which cannot be kept exactly: send it as a string, or round it.`, {
    nodes: node ?? null,
    extensions: { code: 'BAD_USER_INPUT', ...extensions },
  });
}

/** The first argument in which a document uses a variable. */
export function argumentOf(variable: string, document: DocumentNode): string | undefined {
  let argument: string | undefined;
  let found: string | undefined;
  visit(document, {
    VariableDefinition: () => false,
    Argument({ name }) {
      argument = name.value;
    },
    Variable({ name }) {
      if (name.value === variable) found ??= argument;
    },
  });
  return found;
}

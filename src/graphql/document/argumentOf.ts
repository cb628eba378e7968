import { type DocumentNode, visit } from 'postgraphile/graphql';

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

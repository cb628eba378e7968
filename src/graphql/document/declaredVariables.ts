import type { OperationDefinitionNode } from 'postgraphile/graphql';

type Variables = Readonly<Record<string, unknown>>;

/**
 * Keeps the variables that the operation declares.
 * The others are not checked: they may be nested too deep for a message to another thread. And a body of 1 MB may have 300,000 objects,
 * which take 20 MB. They would be kept for as long as the request waits.
 */
export function declaredVariables(
  variables: Variables,
  { variableDefinitions = [] }: OperationDefinitionNode,
): Variables {
  const names = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)));
}

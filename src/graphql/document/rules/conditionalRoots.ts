import { GraphQLError, type SelectionNode } from 'postgraphile/graphql';

/**
 * `@skip` and `@include` at the root of a subscription (GraphQL, September 2025, section 5.2.4.1).
 * Such a subscription may have no field, and GraphQL.js' rule for single fields cannot read its variables.
 *
 * @param roots the selections at the root of subscriptions
 */
export function findConditionalRoots(roots: Iterable<SelectionNode>): GraphQLError[] {
  return Array.from(roots).flatMap(({ directives = [] }) => {
    const directive = directives.find(({ name }) => name.value === 'skip' || name.value === 'include');
    if (!directive) return [];
    const message = `"@${directive.name.value}" cannot be at the root of a subscription.`;
    return new GraphQLError(message, { nodes: directive });
  });
}

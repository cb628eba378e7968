import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type SelectionSetNode,
} from 'postgraphile/graphql';

/**
 * `@skip` and `@include` at the root of a subscription (GraphQL, September 2025, section 5.2.4.1).
 * Such a subscription may have no field, and GraphQL.js' rule for single fields cannot read its variables.
 */
export function findConditionalRoots(
  document: DocumentNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): GraphQLError[] {
  const seen = new Set<string>();

  const inSelections = ({ selections }: SelectionSetNode): GraphQLError[] =>
    selections.flatMap((node) => {
      const directive = node.directives?.find(({ name }) => name.value === 'skip' || name.value === 'include');
      if (directive)
        return new GraphQLError(`"@${directive.name.value}" cannot be at the root of a subscription.`, {
          nodes: directive,
        });
      if (node.kind === Kind.INLINE_FRAGMENT) return inSelections(node.selectionSet);
      if (node.kind === Kind.FIELD || seen.has(node.name.value)) return [];
      seen.add(node.name.value);
      const fragment = fragments.get(node.name.value);
      return fragment ? inSelections(fragment.selectionSet) : [];
    });

  return document.definitions.flatMap((node) =>
    node.kind === Kind.OPERATION_DEFINITION && node.operation === 'subscription' ? inSelections(node.selectionSet) : [],
  );
}

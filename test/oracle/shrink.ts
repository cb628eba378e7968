import {
  type ASTNode,
  astFromValue,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type NamedTypeNode,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  typeFromAST,
  visit,
} from 'graphql';
import type { Question } from './ask.ts';

/** Questions that are a little smaller, the ones that lose most first. */
export function* smaller(question: Question, schema: GraphQLSchema): Generator<Question> {
  const { document, variables } = question;
  for (const set of variables) {
    if (variables.length > 1) yield { ...question, variables: variables.filter((one) => one !== set) };
  }
  for (const change of changesOf(document)) {
    const tidied = tidy(change);
    if (tidied) yield withDocument(question, tidied);
  }
  yield* withLiterals(question, schema);
}

/** Documents with one node less, or with a plainer one in its place. */
function* changesOf(document: DocumentNode): Generator<DocumentNode> {
  const nodes: ASTNode[] = [];
  visit(document, { enter: (node) => void nodes.push(node) });
  for (const target of nodes) {
    const replace = (by: unknown) =>
      visit(document, { enter: (node) => (node === target ? by : undefined) }) as DocumentNode;
    switch (target.kind) {
      case Kind.FIELD:
        yield replace(null);
        if (target.alias) yield replace({ ...target, alias: undefined });
        break;
      case Kind.FRAGMENT_SPREAD:
        yield replace(null);
        yield replace(inlined(document, target.name.value, target));
        break;
      case Kind.INLINE_FRAGMENT:
      case Kind.ARGUMENT:
      case Kind.DIRECTIVE:
        yield replace(null);
        break;
      case Kind.LIST:
        for (const value of target.values)
          yield replace({ ...target, values: target.values.filter((one) => one !== value) });
        break;
      default:
        break;
    }
    // What is within an inline fragment stands in its place.
    if (target.kind === Kind.SELECTION_SET) {
      for (const inner of target.selections) {
        if (inner.kind !== Kind.INLINE_FRAGMENT) continue;
        const selections = target.selections.flatMap((one): readonly SelectionNode[] =>
          one === inner ? inner.selectionSet.selections : [one],
        );
        yield replace({ ...target, selections });
      }
    }
    if (target.kind === Kind.VARIABLE_DEFINITION && target.defaultValue)
      yield replace({ ...target, defaultValue: undefined });
  }
}

function inlined(document: DocumentNode, name: string, spread: { directives?: readonly unknown[] }): unknown {
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION || definition.name.value !== name) continue;
    const { typeCondition, selectionSet } = definition;
    return { kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet, directives: spread.directives };
  }
  return null;
}

/** Each variable's first value in its place. */
function* withLiterals(question: Question, schema: GraphQLSchema): Generator<Question> {
  const { document, variables } = question;
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const { variable, type } of definition.variableDefinitions ?? []) {
      const name = variable.name.value;
      const inputType = typeFromAST(schema, type as NamedTypeNode) as GraphQLInputType | undefined;
      const [given] = variables;
      const literal = inputType && given && name in given ? astFromValue(given[name], inputType) : null;
      if (!literal) continue;
      const isUse = (node: ASTNode, parent: unknown) =>
        node.kind === Kind.VARIABLE &&
        node.name.value === name &&
        (parent as ASTNode).kind !== Kind.VARIABLE_DEFINITION;
      const changed = tidy(
        visit(document, { Variable: (node, _, parent) => (isUse(node, parent) ? literal : undefined) }),
      );
      if (changed) yield withDocument(question, changed);
    }
  }
}

/** Without selections of nothing, fragments that nobody spreads and variables that nobody uses; null when nothing is left. */
function tidy(document: DocumentNode): DocumentNode | null {
  let changed = document;
  for (;;) {
    const before = print(changed);
    changed = visit(changed, {
      leave(node) {
        if (
          (node.kind === Kind.FIELD || node.kind === Kind.INLINE_FRAGMENT) &&
          node.selectionSet?.selections.length === 0
        ) {
          return null;
        }
        return undefined;
      },
    });
    const spread = new Set<string>();
    const used = new Set<string>();
    visit(changed, {
      FragmentSpread: (node) => void spread.add(node.name.value),
      Variable: (node, _key, parent) => {
        if ((parent as ASTNode | undefined)?.kind !== Kind.VARIABLE_DEFINITION) used.add(node.name.value);
      },
    });
    changed = visit(changed, {
      FragmentDefinition: (node) =>
        spread.has(node.name.value) && node.selectionSet.selections.length > 0 ? undefined : null,
      VariableDefinition: (node) => (used.has(node.variable.name.value) ? undefined : null),
    });
    const defined = new Set(
      changed.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [one.name.value] : [])),
    );
    changed = visit(changed, { FragmentSpread: (node) => (defined.has(node.name.value) ? undefined : null) });
    if (print(changed) === before) break;
  }
  const operation = changed.definitions.find(
    (one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION,
  );
  return operation && operation.selectionSet.selections.length > 0 ? changed : null;
}

function withDocument(question: Question, document: DocumentNode): Question {
  return { ...question, document, variables: question.variables.map((set) => only(document, set)) };
}

function only(document: DocumentNode, variables: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const text = print(document);
  return Object.fromEntries(Object.entries(variables).filter(([name]) => text.includes(`$${name}`)));
}

/** Goes on to a smaller one as long as it is still wrong. */
export async function shrink(
  question: Question,
  schema: GraphQLSchema,
  isWrong: (question: Question) => Promise<boolean>,
  maxTries: number,
): Promise<Question> {
  let smallest = question;
  let tries = 0;
  const tried = new Set<string>();
  for (let found = true; found; ) {
    found = false;
    for (const candidate of smaller(smallest, schema)) {
      const name = print(candidate.document) + JSON.stringify(candidate.variables);
      if (tried.has(name) || name.length > (print(smallest.document) + JSON.stringify(smallest.variables)).length)
        continue;
      tried.add(name);
      tries += 1;
      if (tries > maxTries) return smallest;
      if (await isWrong(candidate)) {
        smallest = candidate;
        found = true;
        break;
      }
    }
  }
  return smallest;
}

import { LRU } from '@graphile/lru';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  validate,
} from 'postgraphile/graphql';
import type { Config } from '../config.ts';
import { graphqlError } from './errors.ts';
import { exceededLimits, limitExceeded } from './limits.ts';

/** A document that fits the schema and its limits, and the operation that was asked for. */
export type PreparedDocument = {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
};

/** The document is refused before execution. */
export class DocumentRefused extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('document refused');
    this.errors = errors;
  }
}

/** Documents that are remembered, the refused ones too. A body is at most `limits.body` bytes, which bounds the memory. */
const rememberedDocuments = 500;

/**
 * Parses, measures and validates documents, and remembers the outcome.
 * The function that it returns throws {@link DocumentRefused}.
 */
export function createDocumentReader(schema: GraphQLSchema, limits: Config['limits']) {
  const outcomes = new LRU<string, DocumentNode | DocumentRefused>({ maxLength: rememberedDocuments });

  return (query: string, operationName: string | null): PreparedDocument => {
    const outcome = outcomes.get(query) ?? read(schema, query, limits);
    outcomes.set(query, outcome);
    if (outcome instanceof DocumentRefused) throw outcome;

    const operation = getOperationAST(outcome, operationName);
    if (!operation)
      throw new DocumentRefused([graphqlError('GRAPHQL_VALIDATION_FAILED', whyNoOperation(operationName))]);
    return { document: outcome, operation, fragments: fragmentsOf(outcome) };
  };
}

function read(schema: GraphQLSchema, query: string, limits: Config['limits']): DocumentNode | DocumentRefused {
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: limits.tokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    // GraphQL.js has no other sign of its token limit than this sentence.
    const isTokenLimit = error.message.includes(`more that ${limits.tokens} tokens`);
    return new DocumentRefused([
      isTokenLimit ? limitExceeded('tokens', limits.tokens) : withCode(error, 'GRAPHQL_PARSE_FAILED'),
    ]);
  }
  const exceeded = exceededLimits(schema, document, limits);
  if (exceeded.length > 0) return new DocumentRefused(exceeded);
  const errors = validate(schema, document);
  return errors.length > 0
    ? new DocumentRefused(errors.map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED')))
    : document;
}

/** Without its suggestions, which would spell the schema out for those who may not read it. */
function withCode({ message, nodes, source, positions }: GraphQLError, code: string): GraphQLError {
  const [sentence = message] = message.split(' Did you mean ');
  return new GraphQLError(sentence, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    extensions: { code },
  });
}

function whyNoOperation(operationName: string | null): string {
  return operationName === null
    ? 'The document has several operations, or none; say which one with "operationName".'
    : 'The document has no operation of the name in "operationName".';
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  return fragments;
}

/** Whether the operation asks for the schema and nothing else (`__schema`, `__type`). */
export function isIntrospection({ operation, fragments }: PreparedDocument): boolean {
  const seen = new Set<string>();
  const fieldsOf = ({ selections }: SelectionSetNode): string[] =>
    selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection.name.value];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      const fragment = fragments.get(selection.name.value);
      if (!fragment || seen.has(selection.name.value)) return [];
      seen.add(selection.name.value);
      return fieldsOf(fragment.selectionSet);
    });
  const fields = fieldsOf(operation.selectionSet);
  const isMeta = (name: string) => /^__(schema|type|typename)$/.test(name);
  return operation.operation === 'query' && fields.every(isMeta) && fields.some((name) => name !== '__typename');
}

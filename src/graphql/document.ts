import { LRU } from '@graphile/lru';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'postgraphile/graphql';
import { graphqlError } from './errors.ts';

/** A document that fits the schema, and the operation that was asked for. */
export type PreparedDocument = { readonly document: DocumentNode; readonly operation: OperationDefinitionNode };

/**
 * Parses and validates documents, and remembers the answers.
 * The function that it returns throws an array of errors with codes when the document is refused.
 */
export function createDocumentReader(schema: GraphQLSchema, maxTokens: number) {
  const documents = new LRU<string, DocumentNode | readonly GraphQLError[]>({ maxLength: 500 });

  const read = (query: string): DocumentNode | readonly GraphQLError[] => {
    const known = documents.get(query);
    if (known) return known;
    const document = parseAndValidate(schema, query, maxTokens);
    documents.set(query, document);
    return document;
  };

  return (query: string, operationName: string | null): PreparedDocument => {
    const document = read(query);
    if (isErrors(document)) throw new DocumentRefused(document);
    const operation = getOperationAST(document, operationName);
    if (!operation)
      throw new DocumentRefused([graphqlError('GRAPHQL_VALIDATION_FAILED', whyNoOperation(operationName))]);
    return { document, operation };
  };
}

/** The document is refused before execution. */
export class DocumentRefused extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('document refused');
    this.errors = errors;
  }
}

function parseAndValidate(
  schema: GraphQLSchema,
  query: string,
  maxTokens: number,
): DocumentNode | readonly GraphQLError[] {
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    // GraphQL.js has no other sign of the token limit than that its message is about it.
    return error.message.includes(`${maxTokens} tokens`)
      ? [graphqlError('LIMIT_EXCEEDED', `The document has more than ${maxTokens} tokens.`, { limit: 'tokens' })]
      : [withCode(error, 'GRAPHQL_PARSE_FAILED')];
  }
  const errors = validate(schema, document).map((error) => withCode(error, 'GRAPHQL_VALIDATION_FAILED'));
  return errors.length > 0 ? errors : document;
}

/** Suggestions would spell the schema out for those who may not read it. */
function withCode(error: GraphQLError, code: string): GraphQLError {
  const { nodes = null, source = null, positions = null } = error;
  return new GraphQLError(error.message.replace(/ Did you mean .+\?$/, ''), {
    nodes,
    source,
    positions,
    extensions: { code },
  });
}

function whyNoOperation(operationName: string | null): string {
  return operationName === null
    ? 'The document has several operations, or none; say which one with "operationName".'
    : 'The document has no operation of the name in "operationName".';
}

const isErrors = (value: DocumentNode | readonly GraphQLError[]): value is readonly GraphQLError[] =>
  Array.isArray(value);

/** Whether the operation asks for the schema and nothing else (`__schema`, `__type`). */
export function isIntrospection({ document, operation }: PreparedDocument): boolean {
  const seen = new Set<string>();
  const fieldsOf = (selectionSet: OperationDefinitionNode['selectionSet']): string[] =>
    selectionSet.selections.flatMap((selection) => {
      if (selection.kind === Kind.FIELD) return [selection.name.value];
      if (selection.kind === Kind.INLINE_FRAGMENT) return fieldsOf(selection.selectionSet);
      if (seen.has(selection.name.value)) return [];
      seen.add(selection.name.value);
      const fragment = document.definitions.find(
        (node) => node.kind === Kind.FRAGMENT_DEFINITION && node.name.value === selection.name.value,
      );
      return fragment?.kind === Kind.FRAGMENT_DEFINITION ? fieldsOf(fragment.selectionSet) : [];
    });
  const fields = fieldsOf(operation.selectionSet);
  return (
    operation.operation === 'query' &&
    fields.every((name) => /^__(schema|type|typename)$/.test(name)) &&
    fields.some((name) => name !== '__typename')
  );
}

import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  isValueNode,
  Kind,
  Lexer,
  type OperationDefinitionNode,
  OverlappingFieldsCanBeMergedRule,
  parse,
  print,
  type SelectionNode,
  Source,
  specifiedRules,
  TokenKind,
  validate,
} from 'postgraphile/graphql';
import { refusal } from '../../../plugins/refusal.ts';
import type { Config } from '../../config.ts';
import { DocumentError, limitExceeded, maxCounted, maxExcerpt, shortened } from './documentError.ts';
import {
  bytesOfPlans,
  exceededLimits,
  fragmentsOf,
  measureOperations,
  rootSelections,
  type Size,
  withIsolatedPlanCache,
} from './measureOperations.ts';
import { findConditionalRoots } from './rules/conditionalRoots.ts';
import { refuseInexactLiterals } from './rules/inexactLiterals.ts';
import { findConflicts } from './rules/overlappingFields.ts';
import { suggest, suggestingRules } from './rules/suggestions.ts';

/** A valid document within the limits, and the requested operation. */
export type PreparedDocument = {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly size: Size;
  /** The names of the fields at its root. */
  readonly rootFields: readonly string[];
  readonly query: string;
  /** The schema to execute it with; it keeps its plans as long as the document is cached. */
  readonly schema: GraphQLSchema;
};

/** The memory limit of cached documents, with their plans, in the main thread. */
const defaultCacheBytes = 40_000_000;

/** A parsed document takes some eighty times the memory of its text. */
export const bytesOfCharacter = 80;

/** How many documents are recognized on their second request. */
const recognizedDocuments = 10_000;

/** Reads a document. Its errors suggest no names unless asked to, since names disclose the schema. */
export interface DocumentReader {
  /** @throws {DocumentError} */
  (query: string, operationName: string | null, hideSuggestions?: boolean): PreparedDocument;
  /** Whether the document is in the cache. */
  isKnown(query: string): boolean;
}

/**
 * Document cache (LRU): parses and validates; keeps valid documents from their second request on.
 * So documents that are sent only once neither take memory nor displace frequent ones.
 */
export function createDocumentReader(
  schema: GraphQLSchema,
  limits: Config['limits'],
  cacheBytes = defaultCacheBytes,
): DocumentReader {
  const known = new LRUCache<string, ReadDocument>({
    maxSize: cacheBytes,
    sizeCalculation: ({ sizes }, query) => bytesOfCharacter * query.length + bytesOfPlans(sizes.values()),
  });

  const seen = new LRUCache<string, true>({ max: recognizedDocuments });

  const readNew = (query: string, hideSuggestions: boolean): ReadDocument => {
    const document = read(schema, query, limits, hideSuggestions);
    const digest = hash('sha256', query, 'base64');
    if (seen.has(digest)) known.set(query, document);
    else seen.set(digest, true);
    return document;
  };

  const readDocument = (query: string, operationName: string | null, hideSuggestions = true): PreparedDocument => {
    const { sizes, rootFields, ...document } = known.get(query) ?? readNew(query, hideSuggestions);
    const operation = getOperationAST(document.document, operationName);
    const size = operation && sizes.get(operation);
    if (!size) {
      const names = hideSuggestions ? [] : [...sizes.keys()].flatMap(({ name }) => name?.value ?? []);
      throw new DocumentError([refusal('GRAPHQL_VALIDATION_FAILED', whyNoOperation(operationName, names))]);
    }
    return { ...document, operation, size, rootFields: rootFields.get(operation) ?? [], query };
  };
  return Object.assign(readDocument, { isKnown: (query: string) => known.has(query) });
}

type ReadDocument = Pick<PreparedDocument, 'document' | 'fragments' | 'schema'> & {
  readonly sizes: ReadonlyMap<OperationDefinitionNode, Size>;
  readonly rootFields: ReadonlyMap<OperationDefinitionNode, readonly string[]>;
};

function read(schema: GraphQLSchema, query: string, limits: Config['limits'], hideSuggestions: boolean): ReadDocument {
  const document = parseDocument(query, limits);
  const sizes = measureOperations(schema, document);
  const exceeded = exceededLimits(sizes.values(), limits);
  if (exceeded.length > 0) throw new DocumentError(exceeded);

  const fragments = fragmentsOf(document);
  const roots = rootsOf(sizes.keys(), fragments);
  const ofSubscriptions = roots.filter(({ operation }) => operation.operation === 'subscription');
  const conditional = findConditionalRoots(new Set(ofSubscriptions.flatMap(({ selections }) => selections)));
  if (conditional.length > 0) throw new DocumentError(toValidationErrors(conditional));
  refuseInexactLiterals(schema, document, query);
  const errors = validate(schema, document, linearRules, { hideSuggestions, maxErrors: maxCounted });
  const problems = errors.length > 0 ? errors : findConflicts(schema, document, fragments);
  if (problems.length > maxCounted)
    // GraphQL.js' last error says that there are more.
    throw new DocumentError(toValidationErrors(problems.slice(0, maxCounted)), `more than ${maxCounted}`);
  if (problems.length > 0) throw new DocumentError(toValidationErrors(problems));
  const rootFields = new Map(roots.map(({ operation, selections }) => [operation, fieldNamesIn(selections)]));
  return { document, sizes, rootFields, fragments, schema: withIsolatedPlanCache(schema) };
}

const rootsOf = (
  operations: Iterable<OperationDefinitionNode>,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
) =>
  Array.from(operations, (operation) => ({
    operation,
    selections: [...rootSelections(operation.selectionSet, fragments, new Set())],
  }));

const fieldNamesIn = (selections: readonly SelectionNode[]) =>
  selections.flatMap((selection) => (selection.kind === Kind.FIELD ? [selection.name.value] : []));

/** GraphQL.js' rules except the comparison of pairs of fields, which {@link findConflicts} replaces. */
const linearRules = specifiedRules
  .filter((rule) => rule !== OverlappingFieldsCanBeMergedRule)
  .map((rule) => suggestingRules.get(rule) ?? rule);

function parseDocument(
  query: string,
  { document: maxBytes, tokens: maxTokens, depth }: Config['limits'],
): DocumentNode {
  if (Buffer.byteLength(query) > maxBytes) throw new DocumentError([limitExceeded('document', maxBytes)]);
  try {
    if (isNestedTooDeep(query, maxTokens)) throw new DocumentError([limitExceeded('depth', depth)]);
    return parse(query, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    // GraphQL.js reports its token limit only by this sentence.
    const isTokenLimit = error.message.includes(`more that ${maxTokens} tokens`);
    throw new DocumentError([isTokenLimit ? limitExceeded('tokens', maxTokens) : parseFailed(error)]);
  }
}

function parseFailed({ message, source, positions }: GraphQLError): GraphQLError {
  const extensions = { code: 'GRAPHQL_PARSE_FAILED' } as const;
  return new GraphQLError(shortened(message), { source: source ?? null, positions: positions ?? null, extensions });
}

/** One error for each message, with all locations, so that a repeated mistake makes no long answer. */
function toValidationErrors(errors: readonly GraphQLError[]): GraphQLError[] {
  return Array.from(Map.groupBy(errors, messageOf), ([message, same]) => {
    const nodes = same.flatMap((error) => error.nodes ?? []);
    return new GraphQLError(message, { nodes, extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } });
  });
}

/** A message about a literal repeats all of it. */
function messageOf({ message, nodes }: GraphQLError): string {
  const literal = message.length > maxExcerpt ? nodes?.find(isValueNode) : undefined;
  const printed = literal ? print(literal) : '';
  const beginning = `${printed.slice(0, maxExcerpt)}…`;
  return shortened(printed.length > maxExcerpt ? message.replace(printed, () => beginning) : message);
}

function whyNoOperation(operationName: string | null, names: readonly string[]): string {
  return operationName === null
    ? 'The document has several operations, or none; say which one with "operationName".'
    : `The document has no operation of the name in "operationName".${suggest(operationName, names)}`;
}

/**
 * Nesting limit: how many brackets may be open at a time, so that no recursion overflows its stack.
 * GraphQL.js would manage far more. A document of the deepest fields (`LIMIT_DEPTH`), each in a fragment of its own, is within the limit.
 */
export const maxNesting = 1000;

/**
 * Whether a document opens more than {@link maxNesting} brackets at a time, in linear time.
 *
 * @throws {GraphQLError} at an invalid token
 */
export function isNestedTooDeep(document: string, maxTokens: number): boolean {
  const lexer = new Lexer(new Source(document));
  let open = 0;
  for (let tokens = 0; tokens <= maxTokens; tokens++) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return false;
    if (opening.has(kind)) open++;
    else if (closing.has(kind)) open--;
    if (open > maxNesting) return true;
  }
  return false;
}

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

import { Lexer, Source, TokenKind } from 'postgraphile/graphql';

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

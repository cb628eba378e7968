import fc from 'fast-check';
import { buildSchema, getVariableValues, Kind, type OperationDefinitionNode, parse } from 'postgraphile/graphql';
import type { PreparedDocument } from '../../src/graphql/document/document.ts';
import { DocumentError } from '../../src/graphql/document/documentError.ts';
import { coerceVariables } from '../../src/graphql/document/variables.ts';
import { shareService } from '../support/sharedService.ts';
import { type Post, posting, sendingRaw } from './rawRequest.ts';
import { createTenant, type GraphTest } from './support.ts';

// What is wrong in variables and literals, however large: the answer is short, and is told in GraphQL.js' words.

const schema = buildSchema(`
  enum Colour { RED GREEN }
  input Point { x: Int!, y: Float, colour: Colour, tags: [String!], inner: Point }
  input Key @oneOf { id: ID, name: String }
  type Query { f(a: Int, b: [Point!], c: Key, d: Point, e: [[Boolean]]): String }`);
const operation = parse(
  'query ($a: Int, $b: [Point!], $c: Key, $d: Point!, $e: [[Boolean]] = [[true]]) { f(a: $a, b: $b, c: $c, d: $d, e: $e) }',
).definitions[0] as OperationDefinitionNode;
const prepared = {
  operation,
  document: { kind: Kind.DOCUMENT, definitions: [operation] },
} as unknown as PreparedDocument;

function messagesOf(variables: Record<string, unknown>, hideSuggestions: boolean): readonly string[] {
  try {
    coerceVariables(schema, prepared, variables, hideSuggestions);
    return [];
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error;
    return error.errors.map(({ message }) => message);
  }
}

/** Short values, right and wrong, with fields that there are and others. */
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, 1, 1.5, 2 ** 40, '', 'RED', 'REDD', 'a "quote"', 'ä'),
    fc.array(tie('any'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('x', 'y', 'colour', 'tags', 'inner', 'id', 'name', 'z', 'nam'), tie('any'), {
      maxKeys: 2,
    }),
  ),
})).any;
const drawnVariables = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e'), value, { maxKeys: 5 });

test('GraphQL.js says the same of short values, unknown fields first', () => {
  fc.assert(
    fc.property(drawnVariables, fc.boolean(), (variables, hideSuggestions) => {
      const options = { maxErrors: 1000, hideSuggestions };
      const { errors = [] } = getVariableValues(schema, operation.variableDefinitions ?? [], variables, options);
      const messages = errors.map(({ message }) => message);
      fc.pre(messages.length <= 20 && JSON.stringify(variables).length < 90);

      const unknown = messages.filter((message) => message.includes('is not defined by type'));
      expect([...messagesOf(variables, hideSuggestions)].sort()).toEqual(
        [...(unknown.length > 0 ? unknown : messages)].sort(),
      );
    }),
    { numRuns: 500 },
  );
});

describe('over HTTP', () => {
  let graph: GraphTest;
  let post: Post;
  beforeAll(async () => {
    graph = await shareService();
    post = posting(sendingRaw(graph, (await createTenant(graph)).app));
  });

  const cardsSync = 'mutation q($x: [CardSyncInput!]!) { cardsSync(cards: $x) { results { outcome } } }';
  const users = (name: string, type: string) => `query($x: ${type}) { app { users(${name}: $x) { totalCount } } }`;
  const first = (literal: string) => `{ app { users(first: ${literal}) { totalCount } } }`;
  const node = 'query($x: ID!) { node(id: $x) { id } }';
  const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
  const long = 'x'.repeat(990_000 - 200);

  const [BAD, LIMIT, INVALID] = ['BAD_USER_INPUT', 'LIMIT_EXCEEDED', 'GRAPHQL_VALIDATION_FAILED'];
  it.each<[what: string, query: string, variables: unknown, code: string | undefined, count: number, total?: string]>([
    ['90,000 unknown fields', cardsSync, { x: [keys(90_000)] }, LIMIT, 1],
    ['19,000 unknown fields', cardsSync, { x: [keys(19_000)] }, BAD, 21, '19,000'],
    ['51 unknown fields beside a long text', cardsSync, { x: [{ ...keys(51), name: long }] }, BAD, 21, '51'],
    ['an unknown field with a long name', cardsSync, { x: [{ [long]: 1 }] }, BAD, 1],
    ['20,000 rows that are no objects', cardsSync, { x: Array(20_000).fill('no row') }, BAD, 21, 'more than 100'],
    ['an object for a list of ids', users('ids', '[ID!]'), { x: keys(19_000) }, BAD, 1],
    ['a long text for a number', users('first', 'Int'), { x: long }, BAD, 1],
    ['a long text for a list of an enum', users('orderBy', '[UserOrderBy!]'), { x: long }, BAD, 1],
    ['a long text for a cursor', users('after', 'Cursor'), { x: long }, BAD, 1],
    ['490,000 numbers for ids', users('ids', '[ID!]'), { x: Array(490_000).fill(1) }, LIMIT, 1],
    ['140,000 numbers for ids', users('ids', '[ID!]'), { x: Array(140_000).fill(1) }, BAD, 1],
    ['140,000 booleans for ids', users('ids', '[ID!]'), { x: Array(140_000).fill(true) }, BAD, 21, 'more than 100'],
    ['90,000 undeclared variables', node, { x: 'id', ...keys(90_000) }, LIMIT, 1],
    ['a long list as a literal', first(`[${Array(4000).fill('1')}]`), {}, INVALID, 1],
    ['a long text as a literal', first(`"${'x'.repeat(99_000)}"`), {}, INVALID, 1],
    [
      '900 unknown names in a document',
      `{ app { ${Object.keys(keys(900)).join(' ')} } }`,
      {},
      INVALID,
      21,
      'more than 100',
    ],
    ['a long name in a document', `{ ${'x'.repeat(99_000)} }`, {}, INVALID, 1],
    ['a long name where none may be', `{ app } ${'x'.repeat(99_000)}`, {}, 'GRAPHQL_PARSE_FAILED', 1],
    ['a long id, which is none', node, { x: long }, undefined, 0],
  ])('%s', async (_what, query, variables, code, count, total = '') => {
    const { text } = await post(JSON.stringify({ query, variables }));

    const { errors = [] } = JSON.parse(text) as { errors?: { message: string; extensions: { code: string } }[] };
    expect({ code: errors[0]?.extensions.code, count: errors.length }).toEqual({ code, count });
    if (total) expect(errors.at(-1)?.message).toBe(`There are ${total} errors; the first 20 of them are shown.`);
    expect(text.length).toBeLessThan(20_000);
    expect(text).not.toMatch(/x{101}|(1, ){50}/);
  });
});

import { buildSchema } from 'postgraphile/graphql';
import { loadConfig } from '../../../src/config.ts';
import { createDocumentReader } from '../../../src/graphql/document/document.ts';
import { DocumentError } from '../../../src/graphql/document/documentError.ts';
import { suggest } from '../../../src/graphql/document/rules/suggestions.ts';
import { coerceVariables } from '../../../src/graphql/document/variables.ts';

const schema = buildSchema('type Query { users(first: Int, last: Int): Int name: String }');
const readDocument = createDocumentReader(schema, loadConfig({}, 'serve').limits);

/** The messages of the refusal; empty for a document that is valid. */
function messagesOf(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (error instanceof DocumentError) return error.errors.map(({ message }) => message);
    throw error;
  }
}

test.each([
  [
    'a variable',
    'query ($first: Int) { users(first: $first, last: $frist) }',
    'Variable "$frist" is not defined. Did you mean "$first"?',
    'query ($first: Int) { users(first: $first, last: $first) }',
  ],
  [
    'a fragment',
    '{ ...People ...Pepole } fragment People on Query { name }',
    'Unknown fragment "Pepole". Did you mean "People"?',
    '{ ...People } fragment People on Query { name }',
  ],
  [
    'a directive',
    '{ name @inclde(if: true) }',
    'Unknown directive "@inclde". Did you mean "@include"?',
    '{ name @include(if: true) }',
  ],
])(
  'a document with a wrong name of %s is told the nearest, if suggestions may be made',
  (_what, wrong, message, right) => {
    expect(messagesOf(() => readDocument(wrong, null, false))).toEqual([message]);
    expect(messagesOf(() => readDocument(wrong, null, true))).toEqual([message.replace(/ Did you mean.*/, '')]);
    expect(messagesOf(() => readDocument(right, null, false))).toEqual([]);
  },
);

const orders = buildSchema(`
  enum UserOrderBy { EMAIL_ASC EMAIL_DESC FULL_NAME_ASC }
  input Filter { email: String orders: [UserOrderBy!] }
  type Query { users(orderBy: [UserOrderBy!], filter: Filter): Int }
`);
const readOrders = createDocumentReader(orders, loadConfig({}, 'serve').limits);

// GraphQL.js itself suggests these.
test.each([
  ['a field', '{ usres }', 'Cannot query field "usres" on type "Query". Did you mean "users"?'],
  [
    'an argument',
    '{ users(oderBy: EMAIL_ASC) }',
    'Unknown argument "oderBy" on field "Query.users". Did you mean "orderBy"?',
  ],
  [
    'a field of an input object',
    '{ users(filter: { emial: "a" }) }',
    'Field "emial" is not defined by type "Filter". Did you mean "email"?',
  ],
  [
    'a value of an enum',
    '{ users(orderBy: [EMAIL_ASK]) }',
    'Value "EMAIL_ASK" does not exist in "UserOrderBy" enum. Did you mean the enum value "EMAIL_ASC" or "EMAIL_DESC"?',
  ],
  [
    'a value of an enum in quotes',
    '{ users(filter: { orders: ["EMAIL_ASC"] }) }',
    'Enum "UserOrderBy" cannot represent non-enum value: "EMAIL_ASC". Did you mean the enum value "EMAIL_ASC" or "EMAIL_DESC"?',
  ],
])('a wrong name of %s is told the nearest', (_what, document, message) => {
  expect(messagesOf(() => readOrders(document, null, false))).toEqual([message]);
  expect(messagesOf(() => readOrders(document, null, true))).toEqual([message.replace(/ Did you mean.*/, '')]);
});

test('a wrong value of an enum in a variable is told the nearest', () => {
  const prepared = readOrders('query ($by: [UserOrderBy!], $in: Filter) { users(orderBy: $by, filter: $in) }', null);
  const coerce = (variables: Record<string, unknown>, hides = false) =>
    messagesOf(() => coerceVariables(orders, prepared, variables, hides));

  expect(coerce({ by: ['EMAIL_ASK'] })).toEqual([expect.stringContaining('Did you mean the enum value "EMAIL_ASC"')]);
  expect(coerce({ in: { orders: ['EMAIL_ASK'] } })).toEqual([expect.stringContaining('the enum value "EMAIL_ASC"')]);
  expect(coerce({ in: { emial: '' } })).toEqual([expect.stringContaining('Did you mean "email"?')]);
  expect(coerce({ by: ['EMAIL_ASK'], in: { emial: '' } }, true).join()).not.toContain('Did you mean');
  expect(coerce({ by: ['EMAIL_ASC'], in: { email: '' } })).toEqual([]);
});

test('a directive in the wrong place gets no suggestion', () => {
  const [message] = messagesOf(() => readDocument('query @include(if: true) { name }', null, false));

  expect(message).toBe('Directive "@include" may not be used on QUERY.');
});

test('a wrong name of an operation is told the nearest', () => {
  const document = 'query Users { name } query Units { name }';
  const refused = 'The document has no operation of the name in "operationName".';

  expect(messagesOf(() => readDocument(document, 'User', false))).toEqual([
    expect.stringMatching(/operationName"\. Did you mean .*"Users"/),
  ]);
  expect(messagesOf(() => readDocument(document, 'User', true))).toEqual([refused]);
  expect(messagesOf(() => readDocument(document, 'Users', false))).toEqual([]);
});

test('a variable that was sent under nearly its name is named', () => {
  const prepared = readDocument('query ($first: Int!) { users(first: $first) }', null);
  const missing = 'Variable "$first" of required type "Int!" was not provided.';
  const coerce = (variables: Record<string, unknown>, hides: boolean) =>
    messagesOf(() => coerceVariables(schema, prepared, variables, hides));

  expect(coerce({ frist: 1 }, false)).toEqual([`${missing} Did you mean it by "frist"?`]);
  expect(coerce({ frist: 1 }, true)).toEqual([missing]);
  expect(coerce({ other: 1 }, false)).toEqual([missing]);
  expect(coerce({ first: 1, frist: 1 }, false)).toEqual([]);
});

test('names that are long, or too many, are not compared', () => {
  const long = 'a'.repeat(20_000);
  const many = Array.from({ length: 5000 }, (_, at) => `fragment${at}`);

  expect(suggest(`${long}b`, [long])).toBe('');
  expect(suggest('short', [long])).toBe('');
  expect(suggest('fragment4000x', many)).not.toContain('"fragment4000"');
  expect(suggest('fragment4x', many)).toContain('"fragment4"');
});

import { maxNesting } from '../../src/graphql/document/document.ts';

/** A document that is refused as a whole, and one of its kind that is answered. */
export type HostileDocument = {
  readonly attack: string;
  readonly twin: string;
  readonly refusal: { readonly code: string; readonly limit?: string; readonly argument?: string };
};

const some = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(' ');
const invalid = { code: 'GRAPHQL_VALIDATION_FAILED' };
const exceeded = (limit: string) => ({ code: 'LIMIT_EXCEEDED', limit });

/** One pair of brackets in another, so many times, around what is innermost. */
const nested = (times: number, open: string, close: string, innermost = '') =>
  open.repeat(times) + innermost + close.repeat(times);

// The outermost of a document are two: those of the operation and of the field's arguments.
const unitsBy = (ids: string) => `{ app { rootUnits(ids: ${ids}) { totalCount } } }`;
const spreads = (depth: number, width: number) =>
  `{ ...F0 } ${some(depth, (i) => `fragment F${i} on Query { ${some(width, () => `...F${i + 1}`)} }`)} fragment F${depth} on Query { __typename }`;

/** For an application's token, by name. The first seven are those of graphql-cop. */
export const hostileDocuments: Readonly<Record<string, HostileDocument>> = {
  '101 aliases': {
    attack: `query cop { ${some(101, (i) => `alias${i}: __typename`)} }`,
    twin: `query cop { ${some(20, (i) => `alias${i}: __typename`)} }`,
    refusal: exceeded('aliases'),
  },
  'a directive ten times that does not exist': {
    attack: `query cop { __typename ${'@aa'.repeat(10)} }`,
    twin: 'query cop { __typename @include(if: true) }',
    refusal: invalid,
  },
  'a directive on each of 21 fields': {
    attack: `{ app { ${some(21, (i) => `a${i}: name @include(if: true)`)} } }`,
    twin: `{ app { ${some(20, (i) => `a${i}: name @include(if: true)`)} } }`,
    refusal: exceeded('directives'),
  },
  'a field 500 times': {
    attack: `query cop { ${'__typename \n'.repeat(500)} }`,
    twin: `query cop { ${'__typename \n'.repeat(20)} }`,
    refusal: exceeded('rootFields'),
  },
  'introspection in circles': {
    attack: `query cop { __schema { types { ${nested(4, 'fields { type { ', ' } }', 'name')} } } }`,
    twin: `query cop { __schema { types { ${nested(2, 'fields { type { ', ' } }', 'name')} } } }`,
    refusal: invalid,
  },
  'a field that is nearly right': {
    attack: 'query cop { __schema { directive } }',
    twin: 'query cop { __schema { directives { name } } }',
    refusal: invalid,
  },
  'what is no operation': {
    attack: 'qwerty cop { abc }',
    twin: 'query cop { __typename }',
    refusal: { code: 'GRAPHQL_PARSE_FAILED' },
  },

  'fragments in a circle': {
    attack: '{ ...A } fragment A on Query { ...B } fragment B on Query { ...C } fragment C on Query { ...A }',
    twin: '{ ...A } fragment A on Query { ...B } fragment B on Query { ...C } fragment C on Query { __typename }',
    refusal: invalid,
  },
  'fragments that double forty times': {
    attack: spreads(40, 2),
    twin: spreads(40, 1),
    refusal: exceeded('rootFields'),
  },
  '10,000 braces that open': { attack: '{'.repeat(10_000), twin: '{ __typename }', refusal: exceeded('depth') },
  '2,000 fields in each other': {
    attack: nested(2000, '{ a', '}'),
    twin: `{ app { rootUnits { nodes { ${nested(306, '... on Unit { ... on Unit { parent { ', ' } } }', 'id')} } } } }`,
    refusal: exceeded('depth'),
  },
  'inline fragments in each other': {
    attack: `{ ${nested(maxNesting, '... on Query { ', '}', '__typename')} }`,
    twin: `{ ${nested(maxNesting - 1, '... on Query { ', '}', '__typename')} }`,
    refusal: exceeded('depth'),
  },
  'lists in each other': {
    attack: unitsBy(nested(2400, '[', ']')),
    twin: unitsBy('[]'),
    refusal: exceeded('depth'),
  },
  'objects in each other': {
    attack: unitsBy(nested(1200, '{a: ', '}', '1')),
    twin: unitsBy('[]'),
    refusal: exceeded('depth'),
  },
  'lists in each other, just not too many': {
    attack: unitsBy(nested(maxNesting - 3, '[', ']')),
    twin: unitsBy('[]'),
    refusal: invalid,
  },
  'a type of 2,000 lists': {
    attack: `query($v: ${nested(2000, '[', ']', 'ID!')}) { app { rootUnits(ids: $v) { totalCount } } }`,
    twin: 'query($v: [ID!]) { app { rootUnits(ids: $v) { totalCount } } }',
    refusal: exceeded('depth'),
  },
  'a type of nearly 1,000 lists': {
    attack: `query($v: ${nested(maxNesting - 1, '[', ']', 'ID!')}) { app { rootUnits(ids: $v) { totalCount } } }`,
    twin: 'query($v: [ID!]) { app { rootUnits(ids: $v) { totalCount } } }',
    refusal: invalid,
  },
  '1,600 arguments': {
    attack: `{ app { users(${some(1600, (i) => `a${i}: 1`)}) { totalCount } } }`,
    twin: '{ app { users(first: 1, ids: [], externalIdentifiers: [], orderBy: []) { totalCount } } }',
    refusal: invalid,
  },
  'an argument 1,600 times': {
    attack: `{ app { users(${some(1600, () => 'first: 1')}) { totalCount } } }`,
    twin: '{ app { users(first: 1) { totalCount } } }',
    refusal: invalid,
  },
  '600 fragments for nothing': {
    attack: `{ __typename } ${some(600, (i) => `fragment F${i} on App { name }`)}`,
    twin: `{ app { ${some(20, (i) => `...F${i}`)} } } ${some(20, (i) => `fragment F${i} on App { name }`)}`,
    refusal: invalid,
  },
  'a name of 90,000 characters': {
    attack: `{ ${'x'.repeat(90_000)} }`,
    twin: `query ${'x'.repeat(90_000)} { __typename }`,
    refusal: invalid,
  },
  '5,001 tokens': {
    attack: unitsBy(`[${'"x" '.repeat(5000)}]`),
    twin: `{ __typename ${','.repeat(90_000)} }`,
    refusal: exceeded('tokens'),
  },
  'a number of 400 digits': {
    attack: `{ app { users(first: ${'9'.repeat(400)}) { totalCount } } }`,
    twin: '{ app { users(first: 1000) { totalCount } } }',
    refusal: invalid,
  },
  'a page of 2,147,483,647 rows': {
    attack: '{ app { users(first: 2147483647) { totalCount } } }',
    twin: '{ app { users(first: 1000) { totalCount } } }',
    refusal: { code: 'BAD_USER_INPUT', argument: 'first' },
  },
  'half a surrogate pair': {
    attack: '{ node(id: "\\ud83d") { id } }',
    twin: '{ node(id: "\\ud83d\\ude00") { id } }',
    refusal: { code: 'GRAPHQL_PARSE_FAILED' },
  },
  'a string that does not end': {
    attack: `{ node(id: "${'x'.repeat(90_000)}`,
    twin: `{ node(id: "${'x'.repeat(90_000)}") { id } }`,
    refusal: { code: 'GRAPHQL_PARSE_FAILED' },
  },
  'a change of the schema': {
    attack: 'extend type Query { secret: String } query { secret }',
    twin: '{ __typename }',
    refusal: invalid,
  },
  'a subscription': { attack: 'subscription { app { name } }', twin: '{ app { name } }', refusal: invalid },
  'the organization as a field': {
    attack: '{ app { users { nodes { organizationId } } } }',
    twin: '{ app { users { nodes { id } } } }',
    refusal: invalid,
  },
};

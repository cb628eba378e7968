import { readFile } from 'node:fs/promises';
import { buildSchema } from 'postgraphile/graphql';
import { loadConfig } from '../../src/config.ts';
import { checkArguments } from '../../src/graphql/document/arguments.ts';
import { createDocumentReader } from '../../src/graphql/document/document.ts';
import { bytesOfPlans } from '../../src/graphql/document/measureOperations.ts';
import { isExpensive } from '../../src/graphql/operation.ts';
import { noRequest } from '../../src/observability/requestFields.ts';

const noCursors = { cursorChecksums: () => [] };
const text = await readFile(new URL('schema.graphql', import.meta.url), 'utf8');
const shipped = buildSchema(text);
/** With ten tables of another team. */
const wide = buildSchema(
  [text, ...Array.from({ length: 10 }, (_, index) => `type Door${index} implements Node { id: ID! }`)].join('\n'),
);
const { limits } = loadConfig({}, 'serve');

/** Judges a document as the endpoint does before it executes it. */
function judge(query: string, schema = shipped) {
  const prepared = createDocumentReader(schema, limits)(query, null);
  const { cost, coerced, writtenRows } = checkArguments(schema, prepared, {}, noCursors);
  const signal = new AbortController().signal;
  const operation = {
    prepared,
    cost,
    writtenRows,
    coerced,
    variables: {},
    token: null,
    requestId: noRequest,
    replicaLsns: null,
    signal,
  };
  return { rows: cost.rows, values: cost.values, isExpensive: isExpensive(operation) };
}

const aliases = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: fullName`).join(' ');
const counts = (count: number) =>
  Array.from({ length: count }, (_, index) => `a${index}: users { totalCount }`).join(' ');
const nodes = (count: number) =>
  Array.from({ length: count }, (_, index) => `a${index}: node(id: "VXNlcjox") { id }`).join(' ');
const lists = (count: number) =>
  Array.from({ length: count }, (_, index) => `a${index}: users(first: 1) { nodes { cardAssignments { id } } }`).join(
    ' ',
  );
const units =
  '{ nodes { id name children(first: 10) { nodes { id name children(first: 10) { nodes { id name } } } } } }';

test.each([
  ['a page of users', '{ app { users { nodes { id fullName email locale } } } }', 100, 400, false],
  ['10 × 10 × 10 units', `{ app { rootUnits(first: 10) ${units} } }`, 1110, 2220, false],
  ['1,000 rows of 5 values', `{ app { users(first: 1000) { nodes { ${aliases(5)} } } } }`, 1000, 5000, false],
  ['a value more for each', `{ app { users(first: 1000) { nodes { ${aliases(6)} } } } }`, 1000, 6000, true],
  [
    'the same by a fragment',
    `{ app { users(first: 1000) { nodes { ...F } } } } fragment F on User { ${aliases(6)} }`,
    1000,
    6000,
    true,
  ],
  ['rows beside the values of one', `{ app { users(first: 1000) { nodes { id } } name } }`, 1000, 1001, false],
  ['a list of named rows', `{ app { users(first: 1000, ids: []) { nodes { ${aliases(6)} } } } }`, 0, 0, false],
  ['a count beside rows', '{ app { users(first: 1000) { totalCount nodes { id } } } }', 1000, 2001, false],
  ['more than four counts', `{ app { ${counts(5)} } }`, 500, 5005, true],
  ['counts below rows', '{ app { rootUnits { nodes { children { totalCount } } } } }', 10_100, 100_100, true],
  [
    'pages',
    '{ app { users(first: 1000) { pageInfo { endCursor hasNextPage } edges { cursor } } } }',
    1000,
    1002,
    false,
  ],
  ['edges', '{ app { users { edges { cursor node { id email } } } } }', 100, 300, false],
  ['four nodes', `{ ${nodes(4)} }`, 0, 4004, false],
  ['more of them', `{ ${nodes(5)} }`, 0, 5005, true],
  [
    'more than 3,000 rows',
    `{ app { ${[1, 2, 3, 4].map((n) => `u${n}: users(first: 1000) { nodes { id } }`).join(' ')} } }`,
    4000,
    4000,
    true,
  ],
  ['a page of the feed', '{ app { changes(first: 1000) { nodes { id } } } }', 1000, 1000, false],
  ['the objects of a page', '{ app { changes(first: 1000) { nodes { node { id } } } } }', 1000, 6000, true],
  ['eight lists of cards, which are planned within 20 ms', `{ app { ${lists(8)} } }`, 8, 8, false],
  ['a list more than that', `{ app { ${lists(9)} } }`, 9, 9, true],
])('how much an answer can have decides which thread writes it: %s', (_what, query, rows, values, isExpensive) => {
  expect(judge(query)).toEqual({ rows, values, isExpensive });
});

test('a sync of more than 100 rows is expensive', () => {
  const sync = (count: number) =>
    `mutation { usersSync(users: [${'{ externalIdentifier: "x" } '.repeat(count)}]) { results { outcome } } }`;

  expect([100, 101].map((count) => judge(sync(count)).isExpensive)).toEqual([false, true]);
});

test('an abstract field is planned, and kept, by all of its possible types', () => {
  const bytesIn = (schema: typeof shipped, count: number) =>
    bytesOfPlans([createDocumentReader(schema, limits)(`{ ${nodes(count)} }`, null).size]);

  expect(judge(`{ ${nodes(2)} }`, wide).isExpensive).toBe(false);
  expect(judge(`{ ${nodes(3)} }`, wide).isExpensive).toBe(true);
  expect(judge(`{ ${nodes(3)} }`).isExpensive).toBe(false);
  expect(bytesIn(wide, 9) - bytesIn(shipped, 9)).toBe(9 * 10 * 11_000);
});

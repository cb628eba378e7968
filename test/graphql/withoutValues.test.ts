import { parse } from 'postgraphile/graphql';
import { documentWithoutValues, sqlWithoutValues } from '../../src/graphql/slowOperations.ts';

test.each([
  ["select 'secret', 12, 1.5e3, -7", 'select ?, ?, ?, -?'],
  [`select "it's", "a""b'c" from t1 where x = $12`, `select "it's", "a""b'c" from t1 where x = $12`],
  [`where a = E'se\\'cret' and b = 'it''s' and c`, 'where a = ? and b = ? and c'],
  ['select $tag$ secret $$ $tag$, $$secret$$', 'select ?, ?'],
  ["where type = 'NfcCard'::text  limit 471\n offset 3", 'where type = ?::text limit ? offset ?'],
  ['select f_1(x2), "T1".y3', 'select f_1(x2), "T1".y3'],
  ["select 'never closed secret", 'select ?'],
])('SQL keeps its names and parameters: %s', (sql, without) => {
  expect(sqlWithoutValues(sql)).toBe(without);
});

test('a document keeps its names', () => {
  const document = parse(`# comment
    query Q($a: Int = 1, $b: In = { c: "secret" }) @d(e: "secret") {
      secret1: f(g: "secret", h: $a, i: [1, $b], j: { k: SECRET }, l: """secret""") { ...F ... on T @include(if: true) { x } }
    }
    fragment F on T { secret2: y(z: -1.5) }`);

  expect(documentWithoutValues(document)).toBe(
    'query Q($a: Int, $b: In) @d(e: _) { f(g: _, h: $a, i: _, j: _, l: _) { ...F ... on T @include(if: _) { x } } } ' +
      'fragment F on T { y(z: _) }',
  );
});

test('a long text is cut', () => {
  expect(sqlWithoutValues('a '.repeat(10_000)).length).toBeLessThan(4010);
});

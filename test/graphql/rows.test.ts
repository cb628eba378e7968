import { createRowCounter, hasMoreRows } from '../../src/graphql/answer.ts';

const answerOf = (data: unknown) => JSON.stringify({ data });

test('an answer has more rows from the first one beyond the limit, however deep', () => {
  const users = [{ id: 'a' }, { id: 'b' }, { id: 'c', cards: [{ id: 'd' }] }];

  expect([3, 4, 5].map((most) => hasMoreRows(answerOf({ users }), most))).toEqual([true, false, false]);
});

test('what looks like a row in a text is none', () => {
  const text = '[{,{,{,{,{,{,{,{,{';

  expect(hasMoreRows(answerOf({ users: [{ text }] }), 1)).toBe(false);
  expect(hasMoreRows(answerOf({ users: [{ text }, { text }] }), 1)).toBe(true);
});

test('a list of texts or numbers has no rows', () => {
  const user = { text: '[{,{,{,{,{,{', tags: ['a', 'b', 'c'], points: [[1, 2], [3]] };

  expect(hasMoreRows(answerOf({ users: [user] }), 1)).toBe(false);
  expect(hasMoreRows(answerOf({ users: [user, user] }), 1)).toBe(true);
});

test('rows are counted as they come, and may be taken back', () => {
  const count = createRowCounter(3);
  count(3);
  expect(() => count(1)).toThrow(
    'An operation may return at most 3 rows: ask for smaller pages, since nested pages multiply.',
  );

  count(-2);
  expect(() => count(1)).not.toThrow();
});

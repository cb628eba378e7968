// What packages/grafast-compile assumes of PostgreSQL: its own tests need no database.
import fc from 'fast-check';
import { texts, writeRows } from '../../packages/grafast-compile/test/writeRows.ts';
import { createTestDatabase } from '../support/database.ts';

test('PostgreSQL writes rows as the parser of rows expects', async () => {
  const database = await createTestDatabase();
  const values = fc.sample(texts, 500);

  const { rows } = await database.owner.query<{ text: string }>(
    'select array(select array[value, value]::text[] from unnest($1::text[]) with ordinality as t (value, nth) order by nth)::text as text',
    [values],
  );

  expect(rows[0]?.text).toBe(writeRows(values.map((value) => [value, value])));
  await database.drop();
});

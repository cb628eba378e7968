import { readFile } from 'node:fs/promises';
import { createTestDatabase } from '../support/database.ts';

// docs/upgrading.md names every schema of the database.

test('restoring replaces every schema', async () => {
  const guide = await readFile(new URL('../../docs/upgrading.md', import.meta.url), 'utf8');
  const database = await createTestDatabase();

  const { rows } = await database.owner.query<{ schemas: string[] }>(
    `select array_agg(nspname::text order by nspname) as schemas from pg_namespace where nspname !~ '^(pg_|information_schema$|public$)'`,
  );
  await database.drop();

  const named = [...guide.matchAll(/'(?:drop|revoke create on) schema ([\w, ]+) (?:cascade|from)/g)].map(
    ([, list = '']) => list.split(', ').sort(),
  );
  expect(named).toEqual([rows[0]?.schemas, rows[0]?.schemas]);
});

import { undone } from '../audit/support.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

// Rights to write what triggers alone may write: a proof counts it as written anyway.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const findingsAfter = (...statements: string[]) =>
  undone(database.owner, ...statements, "select * from audit.findings where name = 'forbidden_column_granted'");

test.each([
  ['a column', 'grant update (ancestor_ids) on app_public.units to graph_app'],
  ['a table', 'grant insert on app_public.units to graph_user'],
])('finds the right to write %s that an invariant forbids', async (_, grant) => {
  expect(await findingsAfter(grant)).toEqual([
    expect.objectContaining({ level: 'error', object: 'app_public.units.ancestor_ids' }),
  ]);
});

test('finds nothing of another column, and of one that is accepted', async () => {
  const accept = `insert into audit.accepted (kind, object, who, reason)
    values ('forbidden_column_granted', 'app_public.units.ancestor_ids', '', 'For a test.')`;

  expect(await findingsAfter('grant update (name) on app_public.units to graph_app')).toEqual([]);
  expect(await findingsAfter('grant update (ancestor_ids) on app_public.units to graph_app', accept)).toEqual([]);
});
